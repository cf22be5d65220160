import {
  getOption,
  ScalarType,
  type DescField,
  type DescMessage,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { ComponentChildren } from "preact";
import { field as fieldRules } from "../../../gen/buf/validate/validate_pb.js";
import {
  CheckField,
  ChoicesField,
  SelectField,
  TextAreaField,
  TextField,
  type Choices,
} from "./fields.tsx";

/** What a form says of a field, and what the request does not say of it. */
interface FieldText {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What it holds at first, where `values` does not say so. */
  readonly value?: string | number | boolean | undefined;
  /** Said of a text that the request does not require. */
  readonly optional?: boolean;
  /** What an enum can be, or a text, or what texts are chosen from. */
  readonly choices?: Choices;
  readonly type?: "password";
  readonly isLong?: boolean;
  readonly placeholder?: string;
  readonly onInput?: (text: string) => void;
}

/** The fields of a request that a form has, in this order; most have a label alone. */
export type FieldTexts<I extends DescMessage> = {
  readonly [Name in keyof MessageShape<I>]?: string | FieldText;
};

export interface RequestFieldsProps<I extends DescMessage> {
  readonly fields: FieldTexts<I>;
  /** What holds under the same names what they hold at first, such as the record that is edited. */
  readonly values?: object | undefined;
}

/** Fields of a request, each of the kind that its descriptor says, to be read by `requestOf`. */
export function RequestFields<I extends DescMessage>(
  props: RequestFieldsProps<I> & {
    readonly of: I;
    /** Of a message within the request: the name of its field. */
    readonly path?: string;
  },
) {
  const { of, path, fields, values = {} } = props;
  return Object.entries<string | FieldText | undefined>(fields).map(([name, given]) => {
    const text = typeof given === "string" ? { label: given } : given!;
    const value = (values as Readonly<Record<string, unknown>>)[name] ?? text.value;
    const field = of.field[name]!;
    const fullName = path === undefined ? field.name : `${path}.${field.name}`;
    return <RequestField key={name} {...text} {...{ field, value }} name={fullName} />;
  });
}

function RequestField(
  props: Omit<FieldText, "value"> & {
    readonly name: string;
    readonly field: DescField;
    readonly value: unknown;
  },
) {
  const { field, value, isLong = false, choices, type, ...own } = props;
  if (field.fieldKind === "list") {
    return <ChoicesField {...own} choices={choices!} values={(value as string[]) ?? []} />;
  }
  if (field.scalar === ScalarType.BOOL) return <CheckField {...own} checked={value === true} />;
  const typed = { ...own, value: value as string | number | undefined };
  if (choices !== undefined) return <SelectField {...typed} choices={choices} />;
  const { required, type: rules } = getOption(field, fieldRules);
  const string = rules.case === "string" ? rules.value : undefined;
  const optional = own.optional ?? !(required || (string && string.minLen > 0));
  if (isLong) return <TextAreaField {...typed} optional={optional} />;
  return (
    <TextField
      {...typed}
      optional={optional}
      type={type ?? (string?.wellKnown.case === "email" ? "email" : "text")}
      numeric={field.scalar !== ScalarType.STRING}
    />
  );
}
