"""Makes gRPC calls with grpcio, which is built on gRPC's C-core, as the clients for C++, Ruby and PHP are.

Reads one JSON document from standard input, starts all its calls at once, and prints one JSON object a
line: {"call", "headers"}, {"call", "message"} for each message, and {"call", "code", "details",
"trailers"} at the end of each call. Bytes are base64.
"""

import base64
import json
import os
import sys
import threading

import grpc

KINDS = {"unary": "unary_unary", "stream": "unary_stream", "bidi": "stream_stream"}
COMPRESSIONS = {
    None: None,
    "gzip": grpc.Compression.Gzip,
    "deflate": grpc.Compression.Deflate,
}
printing = threading.Lock()


def say(number, **facts):
    with printing:
        print(json.dumps({"call": number, **facts}), flush=True)


def text_of(value):
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def pairs(metadata):
    return [[name, text_of(value)] for name, value in metadata or ()]


def make(number, channel, call):
    method = getattr(channel, KINDS[call["kind"]])(call["path"])
    message = base64.b64decode(call["message"])
    options = {
        "metadata": [tuple(pair) for pair in call["metadata"]],
        "timeout": call["timeoutSeconds"],
        "compression": COMPRESSIONS[call["compression"]],
        # On a busy machine the first connection attempt may fail. Calls wait for the next attempt.
        "wait_for_ready": True,
    }
    if call["kind"] == "unary":
        calling = method.future(message, **options)
    elif call["kind"] == "stream":
        calling = method(message, **options)
    else:
        calling = method(iter([message]), **options)
    try:
        say(number, headers=pairs(calling.initial_metadata()))
        received = [calling.result()] if call["kind"] == "unary" else calling
        for reply in received:
            say(number, message=text_of(reply))
    except grpc.RpcError:
        pass
    say(
        number,
        code=calling.code().name,
        details=calling.details() or "",
        trailers=pairs(calling.trailing_metadata()),
    )


def fail(failure):
    sys.__excepthook__(failure.exc_type, failure.exc_value, failure.exc_traceback)
    os._exit(1)


def main():
    threading.excepthook = fail
    work = json.load(sys.stdin)
    threads = []
    shared = grpc.insecure_channel(work["target"])
    for number, call in enumerate(work["calls"]):
        # A call on a new connection sends its headers together with the connection preface.
        own = [("grpc.use_local_subchannel_pool", 1)]
        channel = grpc.insecure_channel(work["target"], own) if call["alone"] else shared
        threads.append(threading.Thread(target=make, args=(number, channel, call)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
