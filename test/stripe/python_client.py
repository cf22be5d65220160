"""Makes calls of Stripe with Debian's stripe package.

Its arguments are the server's URL and a key. Reads one JSON document a line: {"call": ["Refund",
"create"], "of": positional arguments, "with": named ones}; prints one a line: {"answer"}, or {"error",
"status", "code", "param"} with the name of the error's class.
"""

import json
import sys

import stripe

stripe.api_base, stripe.api_key = sys.argv[1:]


def make(call):
    function = stripe
    for name in call["call"]:
        function = getattr(function, name)
    try:
        answer = function(*call.get("of", []), **call.get("with", {}))
        return {"answer": answer.to_dict_recursive()}
    except stripe.error.StripeError as error:
        return {
            "error": type(error).__name__,
            "status": error.http_status,
            "code": error.code,
            "param": getattr(error, "param", None),
        }


for line in sys.stdin:
    print(json.dumps(make(json.loads(line))), flush=True)
