# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What streams carry, as the buffers that rules name: HTTP/1, TLS, DNS, read in the plainest way.

What is not plain raises Unclear: rules about it are not judged there.
"""

import re
import zlib
from dataclasses import dataclass, field

REQUEST_LINE = re.compile(rb"([A-Z]{3,20}) (\S+) (HTTP/1\.[01])\r\n")
STATUS_LINE = re.compile(rb"(HTTP/1\.[01]) (\d{3}) ([^\r\n]*)\r\n")
HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n]*?)[ \t]*")
NAMED = {b"user-agent": "http.user_agent", b"referer": "http.referer", b"accept": "http.accept",
         b"accept-encoding": "http.accept_enc", b"accept-language": "http.accept_lang",
         b"connection": "http.connection", b"content-length": "http.content_len",
         b"content-type": "http.content_type"}
NAMED_OF_RESPONSE = {b"location": "http.location", b"server": "http.server",
                     b"connection": "http.connection", b"content-length": "http.content_len",
                     b"content-type": "http.content_type"}


class Unclear(Exception):
    """What is not read."""


@dataclass
class Message:
    """One direction of a transaction: values by buffer, and where it ends in its stream."""

    direction: int
    values: dict = field(default_factory=dict)  # buffer -> [bytes]
    end: int = 0

    def put(self, buffer, value):
        self.values.setdefault(buffer, []).append(value)


def undo_escapes(text):
    if re.search(rb"%(?![0-9A-Fa-f]{2})|\x00", text):
        raise Unclear("a wrong escape")
    done = re.sub(rb"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), text)
    if any(byte >= 0x80 or byte == 0 for byte in done):
        raise Unclear("an escape of UTF-8")
    return done


def normal_path(path):
    """Without escapes, double separators, "." and ".."."""
    text = re.sub(rb"/+", b"/", undo_escapes(path).replace(b"\\", b"/"))
    parts = []
    pieces = text.split(b"/")
    for number, piece in enumerate(pieces):
        is_last = number == len(pieces) - 1
        if piece == b"..":
            del parts[1 if parts[:1] == [b""] else 0:][-1:]
            parts = parts[:-1] if len(parts) > 1 else parts
        if piece in (b".", b".."):
            parts += [b""] if is_last else []
        else:
            parts.append(piece)
    return b"/".join(parts)


def normal_uri(uri):
    if not uri.startswith(b"/") or b"#" in uri:
        raise Unclear("a URI that is no path")
    path, mark, query = uri.partition(b"?")
    return normal_path(path) + mark + undo_escapes(query)


def read_head(text, at):
    """([(name, value)], raw headers, place behind them)."""
    end = text.find(b"\r\n\r\n", at - 2)
    if end < 0:
        raise Unclear("headers without end")
    raw = text[at:end + 4]
    headers = []
    for line in raw[:-2].split(b"\r\n")[:-1]:
        found = HEADER.fullmatch(line)
        if not found:
            raise Unclear("a header of another form")
        same = [one for one in headers if one[0].lower() == found[1].lower()]
        if same and same[0][0].lower() in (b"content-length", b"host"):
            raise Unclear("a header twice")
        if same:
            same[0][1] += b", " + found[2]
        else:
            headers.append([found[1], found[2]])
    return headers, raw, end + 4


def read_body(text, at, headers):
    """(body, place behind it)."""
    named = {name.lower(): value for name, value in headers}
    if b"transfer-encoding" in named:
        return read_chunks(text, at)
    length = named.get(b"content-length", b"0")
    if not length.isdigit():
        raise Unclear("a length that is no number")
    end = at + int(length)
    if end > len(text):
        raise Unclear("a body that is cut off")
    return text[at:end], end


def read_chunks(text, at):
    body = b""
    while True:
        found = re.compile(rb"([0-9A-Fa-f]{1,6})\r\n").match(text, at)
        if not found:
            raise Unclear("a chunk of another form")
        size, at = int(found[1], 16), found.end()
        body += text[at:at + size]
        if text[at + size:at + size + 2] != b"\r\n":
            raise Unclear("a chunk that is cut off")
        at += size + 2
        if size == 0:
            return body, at


def inflated(body, headers):
    coding = {name.lower(): value.lower() for name, value in headers}.get(b"content-encoding")
    if coding is None or not body:
        return body
    if coding != b"gzip":
        raise Unclear("a content encoding")
    try:
        return zlib.decompress(body, 31)
    except zlib.error as error:
        raise Unclear("a content encoding that is wrong") from error


def put_headers(message, line, headers, raw):
    cookie = b"cookie" if message.direction == 0 else b"set-cookie"
    named = NAMED if message.direction == 0 else NAMED_OF_RESPONSE
    lines = [name + b": " + value + b"\r\n" for name, value in headers]
    start = line.rstrip(b"\r\n") + b"\r\n" + b"".join(lines)
    message.put("http.start", start + (b"\r\n" if lines else b""))
    message.put("http.header.raw", raw)
    if headers:
        message.put("http.header_names",
                    b"\r\n" + b"".join(name + b"\r\n" for name, _ in headers) + b"\r\n")
    rest = b"".join(text for text, (name, _) in zip(lines, headers) if name.lower() != cookie)
    if rest:
        message.put("http.header", rest)
    for name, value in headers:
        if name.lower() == cookie:
            message.put("http.cookie", value)
        elif name.lower() in named:
            message.put(named[name.lower()], value)


def read_request(text, at):
    line = REQUEST_LINE.match(text, at)
    if not line or line[1] == b"CONNECT":
        raise Unclear("a request line of another form")
    message = Message(0)
    headers, raw, end = read_head(text, line.end())
    message.put("http.method", line[1])
    message.put("http.uri.raw", line[2])
    message.put("http.uri", normal_uri(line[2]))
    message.put("http.request_line", line[0][:-2])
    message.put("http.protocol", line[3])
    put_headers(message, line[0], headers, raw)
    host = next((value for name, value in headers if name.lower() == b"host"), None)
    if host is not None:
        if not re.fullmatch(rb"[A-Za-z0-9._-]+(:\d+)?", host):
            raise Unclear("a host of another form")
        message.put("http.host", host.lower().partition(b":")[0])
        message.put("http.host.raw", host)
    body, message.end = read_body(text, end, headers)
    if body:
        if any(name.lower() == b"content-encoding" for name, _ in headers):
            raise Unclear("a request that is compressed")
        message.put("http.request_body", body)
        kind = message.values.get("http.content_type", [b""])[0].lower()
        if b"multipart" in kind:
            message.values["file.data"] = None  # its parts: not judged
        elif line[1] in (b"POST", b"PUT"):
            message.put("file.data", body)
    return message


def read_response(text, at, method):
    line = STATUS_LINE.match(text, at)
    if not line:
        raise Unclear("a status line of another form")
    message = Message(1)
    headers, raw, end = read_head(text, line.end())
    message.put("http.protocol", line[1])
    message.put("http.stat_code", line[2])
    message.put("http.stat_msg", line[3].rstrip())
    message.put("http.response_line", line[0][:-2])
    put_headers(message, line[0], headers, raw)
    if line[2][:1] == b"1":
        raise Unclear("an interim response")
    named = {name.lower() for name, _ in headers}
    if method == b"HEAD" or line[2] in (b"204", b"304"):
        body, message.end = b"", end
    elif not named & {b"content-length", b"transfer-encoding"}:
        body, message.end = text[end:], len(text)
    else:
        body, message.end = read_body(text, end, headers)
    if body:
        body = inflated(body, headers)
        message.put("http.response_body", body)
        message.put("file.data", body)
    return message


def http_messages(streams):
    """All messages of both directions."""
    requests, at = [], 0
    while at < len(streams[0]):
        requests.append(read_request(streams[0], at))
        at = requests[-1].end
    responses, at = [], 0
    while at < len(streams[1]):
        if len(responses) >= len(requests):
            raise Unclear("a response without a request")
        method = requests[len(responses)].values["http.method"][0]
        responses.append(read_response(streams[1], at, method))
        at = responses[-1].end
    return requests + responses


def dns_message(data, end=0, is_answer=False):
    """The names that a query asks for, or that an answer repeats."""
    if len(data) < 12 or data[2] & 0xF8 != 0x80 * is_answer or data[4] or data[5] not in (1, 2):
        raise Unclear("no plain message of DNS")
    count, at = int.from_bytes(data[4:6]), 12
    message = Message(0, end=end)
    for _ in range(count):
        labels = []
        while at < len(data) and data[at]:
            if data[at] > 63:
                raise Unclear("a compressed name")
            labels.append(data[at + 1:at + 1 + data[at]])
            at += 1 + data[at]
        if at + 5 > len(data):
            raise Unclear("a name that is cut off")
        at += 5
        message.put("dns.query", b".".join(labels))
    return message


def handshakes(stream):
    """(type, body, place behind the record) of TLS, as long as it is not encrypted."""
    at, text, ends = 0, b"", []
    while at + 5 <= len(stream) and stream[at] == 22 and stream[at + 1] == 3:
        length = int.from_bytes(stream[at + 3:at + 5])
        if at + 5 + length > len(stream):
            break
        text += stream[at + 5:at + 5 + length]
        at += 5 + length
        ends.append((len(text), at))
    at = 0
    while at + 4 <= len(text):
        length = int.from_bytes(text[at + 1:at + 4])
        if at + 4 + length > len(text):
            return
        place = next(end for size, end in ends if size >= at + 4 + length)
        yield text[at], text[at + 4:at + 4 + length], place
        at += 4 + length


def server_name(hello):
    """The name in a ClientHello, or None."""
    at = 34
    at += 1 + hello[at]
    at += 2 + int.from_bytes(hello[at:at + 2])
    at += 1 + hello[at]
    end = at + 2 + int.from_bytes(hello[at:at + 2])
    at += 2
    while at + 4 <= end:
        kind, size = int.from_bytes(hello[at:at + 2]), int.from_bytes(hello[at + 2:at + 4])
        if kind == 0 and size > 5:
            return hello[at + 9:at + 9 + int.from_bytes(hello[at + 7:at + 9])]
        at += 4 + size
    return None


def certificates(body):
    at = 3
    while at + 3 <= len(body):
        size = int.from_bytes(body[at:at + 3])
        yield body[at + 3:at + 3 + size]
        at += 3 + size


def tls_messages(streams):
    """The hello of the client, and the certificates of the server."""
    hello, certs = Message(0), Message(1)
    for kind, body, end in handshakes(streams[0]):
        if kind == 1 and not hello.end:
            hello.end = end
            if (name := server_name(body)) is not None:
                hello.put("tls.sni", name)
    for kind, body, end in handshakes(streams[1]):
        if kind == 11:
            certs.end = end
            certs.values["tls.certs"] = list(certificates(body))
    return [hello, certs]
