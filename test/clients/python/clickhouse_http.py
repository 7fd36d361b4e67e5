"""ClickHouse's HTTP interface in front of the chdb library: POST with a statement, one at a time."""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from chdb.session import Session

path, password = sys.argv[1:]
session = Session(path)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        sql = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        if self.headers.get("x-clickhouse-key") != password:
            return self.respond(403, "Authentication failed")
        try:
            self.respond(200, str(session.query(sql, "TabSeparated")))
        except Exception as error:
            self.respond(500, str(error))

    def respond(self, status, text):
        body = text.encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
