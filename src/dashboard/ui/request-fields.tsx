import { getOption, ScalarType, type DescField, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import type { ComponentChildren } from "preact";
import { field as fieldRules } from "../../../gen/buf/validate/validate_pb.js";
import { CheckField, ChoicesField, SelectField, TextAreaField, TextField, type Choices } from "./fields.tsx";

/** Presentation of a request field, beyond its descriptor. */
export interface FieldText {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** Initial value if `values` has none. */
  readonly value?: string | number | boolean | undefined;
  readonly optional?: boolean;
  /** Choices for an enum, a text or a list of texts. */
  readonly choices?: Choices;
  readonly type?: "password";
  readonly isLong?: boolean;
  readonly placeholder?: string;
  readonly onInput?: (text: string) => void;
}

/** Request fields in display order. A plain string is the label. */
export type FieldTexts<I extends DescMessage> = {
  readonly [Name in keyof MessageShape<I>]?: string | FieldText;
};

export interface RequestFieldsProps<I extends DescMessage> {
  readonly fields: FieldTexts<I>;
  /** Initial values by field name, such as the record being edited. */
  readonly values?: object | undefined;
}

/** Form fields for a request. Its descriptor determines the input types. Read them with `requestOf`. */
export function RequestFields<I extends DescMessage>(
  props: RequestFieldsProps<I> & {
    readonly of: I;
    /** Name of the field that holds this nested message. */
    readonly path?: string;
  },
) {
  const { of, path, fields, values = {} } = props;
  return Object.entries<string | FieldText | undefined>(fields).map(([name, labelOrText]) => {
    const text = typeof labelOrText === "string" ? { label: labelOrText } : labelOrText!;
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
