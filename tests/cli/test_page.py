"""The page's server: what it shows, and all that it refuses."""

import http.client
import json
import re
import signal
import socket
import struct

import harness

PATIENCE = 120  # s; no test waits for time, but one that hangs must end
IDLE = 900


class Page(harness.Case):
    command = ("view", "out")

    def setUp(self):
        super().setUp()
        self.treacle("run", "drop.yaml", "-o", "out", "--frames", 2, "-q")
        self.server = self.start(*self.command, "--port", 0)
        self.addCleanup(self.end)
        self.port = int(re.search(r":(\d+)/", self.server.stdout.readline())[1])

    def end(self):
        self.server.send_signal(signal.SIGINT)
        self.server.communicate(timeout=PATIENCE)
        self.assertEqual(self.server.returncode, 0)

    def ask(self, path, method="GET", body=None, address="127.0.0.1", **headers):
        connection = http.client.HTTPConnection(address, self.port, timeout=PATIENCE)
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, data, answer.headers

    def raw(self, request):
        """The first line of the answer to bytes that no library would send."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as wire:
            try:
                wire.sendall(request)
                return wire.recv(65536).split(b"\r\n")[0].decode()
            except (ConnectionResetError, BrokenPipeError):
                return ""

    def test_the_run_and_its_frames_are_shown(self):
        status, page, headers = self.ask("/")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertIn(b"viewer.js", page)
        self.assertIn("default-src 'self'", headers["Content-Security-Policy"])
        run = json.loads(self.ask("/run.json")[1])
        self.assertEqual((run["name"], run["frames"], run["wanted"], run["fps"]), ("drop", 2, 2, 24))
        self.assertEqual(run["domain"]["cells"], [16, 16, 16])
        stats = json.loads(self.ask("/stats.json")[1])
        self.assertEqual(len(stats["time"]), len(stats["kinetic energy"]))
        for what in ("surface", "particles"):
            status, glb, headers = self.ask(f"/frame/2/{what}.glb")
            self.assertEqual((status, glb[:4]), (200, b"glTF"))
            self.assertEqual(struct.unpack("<I", glb[8:12])[0], len(glb))
            self.assertAlmostEqual(json.loads(headers["X-Treacle"])["time"], 1 / 24, delta=1e-6)

    def test_frames_appear_while_the_run_goes_on(self):
        self.assertEqual(self.ask("/frame/4/surface.glb")[0], 404)
        self.treacle("resume", "out", "--frames", 4, "-q")
        run = json.loads(self.ask("/run.json")[1])
        self.assertEqual((run["frames"], run["wanted"]), (4, 4))
        self.assertEqual(self.ask("/frame/4/surface.glb")[0], 200)

    def test_frames_that_are_not_there_are_not_found(self):
        for path in ("/frame/0/surface.glb", "/frame/3/surface.glb", "/frame/-1/surface.glb",
                     "/frame/99999999999999999999/surface.glb", "/frame/1e3/surface.glb",
                     "/frame/1/other.glb", "/frame/1/surface.glb/", "/frame/", "/nothing"):
            self.assertEqual(self.ask(path)[0], 404, path)

    def test_no_path_leads_out_of_the_run(self):
        (self.dir / "out/secret.txt").write_text("secret")
        for path in ("/../drop.yaml", "/../../../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
                     "/..%2fdrop.yaml", "//etc/passwd", "/secret.txt", "/scene.yaml", "/run.json/..",
                     "/frame/../scene.yaml", "/frame/1/../../scene.yaml", "/\\..\\drop.yaml"):
            line = self.raw(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
            self.assertRegex(line, r"^HTTP/1\.1 (400|404)", path)

    def test_other_hosts_are_refused(self):
        for host in ("evil.example", "evil.example:80", f"evil.example:{self.port}", "127.0.0.1",
                     f"127.0.0.1.evil.example:{self.port}", "127.0.0.1:1"):
            self.assertEqual(self.ask("/run.json", Host=host)[0], 403, host)
        for host in (f"localhost:{self.port}", f"127.0.0.1:{self.port}"):
            self.assertEqual(self.ask("/run.json", Host=host)[0], 200, host)
        self.assertEqual(self.ask("/run.json", Origin="http://evil.example")[0], 403)
        line = self.raw(b"GET /run.json HTTP/1.1\r\n\r\n")
        self.assertRegex(line, r"^HTTP/1\.1 40[03]")

    def test_ranges_that_make_no_sense_are_refused(self):
        for wrong in ("bytes=5-2", "bytes=99999999-", "bytes=-", "bytes=a-b", "lines=1-2",
                      "bytes=0-1,4-5", "bytes=-99999999999999999999"):
            self.assertEqual(self.ask("/viewer.js", Range=wrong)[0], 416, wrong)
        self.assertEqual(self.ask("/viewer.js", Range="bytes=0-10")[0], 200)

    def test_huge_and_broken_requests_are_refused(self):
        host = f"Host: 127.0.0.1:{self.port}\r\n".encode()
        for request in (b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\n" + host + b"\r\n",
                        b"GET / HTTP/1.1\r\n" + host + b"X: " + b"b" * 200000 + b"\r\n\r\n",
                        b"GET / HTTP/1.1\r\n" + host + b"".join(b"X%d: y\r\n" % k for k in
                                                               range(20000)) + b"\r\n",
                        b"BREW / HTTP/1.1\r\n" + host + b"\r\n"):
            self.assertNotRegex(self.raw(request), r"^HTTP/1\.[01] 200")
        for place in (b"*", b"", b"run.json", b"http://evil.example/run.json", b"\\run.json"):
            self.assertRegex(self.raw(b"GET " + place + b" HTTP/1.1\r\n" + host + b"\r\n"),
                             r"^(HTTP/1\.1 400|$)")
        noise = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        self.addCleanup(noise.close)
        noise.sendall(b"\x00\xff" * 100 + b"\r\n\r\n")  # the server waits for more
        status = self.ask("/run.json", method="POST", body=b"x" * 1000000)[0]
        self.assertIn(status, (405, 413))
        for method in ("PUT", "DELETE", "OPTIONS"):
            self.assertEqual(self.ask("/run.json", method=method)[0], 405)
        self.assertEqual(self.ask("/run.json")[0], 200)  # it is still there

    def test_silent_connections_keep_nobody_out(self):
        # In rounds of the server's patience with the silent these would last longer than ours.
        for _ in range(IDLE):
            silent = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
            self.addCleanup(silent.close)
        self.assertEqual(self.ask("/run.json")[0], 200)
        silent.sendall(f"GET /run.json HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
        self.assertIn(b"200", silent.recv(100))  # the last of them was let in


class Listening(Page):
    """On all addresses: by one of ours or by a name that was vouched for, and not by others' names."""

    command = ("view", "out", "--listen", "0.0.0.0", "--host", "studio.local", "--host", "farm:80")

    def test_the_address_that_a_request_arrives_at_is_ours(self):
        self.assertEqual(self.ask("/run.json", address="127.0.0.2")[0], 200)
        for host, status in ((f"127.0.0.2:{self.port}", 403), (f"studio.local:{self.port}", 200),
                             ("farm", 200), ("studio.local", 403), (f"0.0.0.0:{self.port}", 403)):
            self.assertEqual(self.ask("/run.json", Host=host)[0], status, host)
        self.assertEqual(self.ask("/run.json", Origin=f"http://studio.local:{self.port}")[0], 200)


class OneAddress(Page):
    command = ("view", "out", "--listen", "127.0.0.1", "--host", "studio.local")


class Play(Page):
    """The live page refuses as the other does, and lets hands in."""

    command = ("play", "play.yaml", "--set", "name=thick")

    def setUp(self):
        with open("scenes/play.yaml", encoding="utf-8") as file:
            text = file.read()
        self.play_text = text
        super().setUp()

    def scene(self, name="drop.yaml", text=harness.SCENE):
        super().scene("play.yaml", self.play_text)
        return super().scene(name, text)

    def live(self):
        status, glb, headers = self.ask("/live/particles.glb")
        self.assertEqual((status, glb[:4]), (200, b"glTF"))
        return json.loads(headers["X-Treacle"]), glb

    def act(self, action, status=200):
        self.assertEqual(self.ask("/act", method="POST", body=json.dumps(action))[0], status)

    def test_frames_appear_while_the_run_goes_on(self):
        self.assertEqual(self.ask("/frame/1/surface.glb")[0], 404)  # there are none here

    def test_the_run_and_its_frames_are_shown(self):
        run = json.loads(self.ask("/run.json")[1])
        self.assertTrue(run["live"])
        self.assertFalse(run["moves"])
        props = json.loads(self.ask("/solids_1.json")[1])
        bodies = [prop for prop in props if prop["role"] == "body"]
        self.assertGreater(len(bodies), 0)
        self.assertEqual(len(bodies[0]["state"]), 13)
        self.assertGreater(len(bodies[0]["triangles"]), 0)

    def test_a_body_follows_the_hand_and_is_thrown(self):
        self.act({"step": 1})
        before = self.live()[0]["bodies"][0]
        to = [before[0] + 0.05, before[1] + 0.1, before[2]]
        self.act({"grab": 0, "to": to})
        self.act({"step": 40})
        held = self.live()[0]["bodies"][0]
        self.assertLess(max(abs(held[k] - to[k]) for k in range(3)), 0.04)
        self.act({"grab": 0, "to": [to[0] - 0.3, to[1] + 0.1, to[2]]})
        self.act({"step": 2})
        self.act({"release": True})
        self.act({"step": 1})
        self.assertLess(self.live()[0]["bodies"][0][7], -0.05)

    def test_a_held_run_takes_the_steps_that_are_asked_for(self):
        self.act({"step": 1})
        note = self.live()[0]
        self.assertTrue(note["paused"])
        self.act({"step": 3})
        later = self.live()[0]
        self.assertEqual(later["steps"], note["steps"] + 3)
        self.assertGreater(later["time"], note["time"])
        self.act({"pause": True})
        while self.live()[0]["steps"] == later["steps"]:
            pass  # it runs again by itself
        self.assertFalse(self.live()[0]["paused"])

    def test_liquid_is_poured_and_changed(self):
        self.act({"step": 1})
        before = len(self.live()[1])
        self.act({"pour": [0.2, 0.34, 0.2]})
        self.act({"step": 3})
        self.act({"release": True})
        self.assertGreater(len(self.live()[1]), before)
        self.act({"viscosity": 20.0})
        self.act({"heat": 15.0})
        note = self.live()[0]
        self.assertEqual(note["told"], "")
        self.act({"restart": True})
        self.act({"pause": True})

    def test_values_are_laid_over_the_scene(self):
        self.assertEqual(json.loads(self.ask("/run.json")[1])["name"], "thick")
        self.act({"viscosity": 20.0})  # loads the scene again
        self.assertEqual(json.loads(self.ask("/run.json")[1])["name"], "thick")

    def test_nonsense_is_refused(self):
        for action in ({}, {"grab": 99, "to": [0, 0, 0]}, {"grab": 0, "to": [0, 0]},
                       {"pour": "here"}, {"viscosity": -1}, {"viscosity": 1e300}, {"heat": 1e9},
                       {"step": 0}, {"step": 101}, {"step": -1}, {"step": "x"}, {"step": 1.5},
                       {"grab": 0, "to": [1e300, 0, 0]}, [1, 2], "x"):
            self.act(action, status=400)
        self.assertEqual(self.ask("/act", method="POST", body=b"{")[0], 400)
        self.assertEqual(self.ask("/act", method="POST", body=b"{}",
                                  Origin="http://evil.example")[0], 403)
        self.live()


class Static(harness.Case):
    def test_the_page_is_written_as_files(self):
        self.treacle("run", "drop.yaml", "-o", "out", "--frames", 3, "-q")
        done = self.treacle("view", "out", "--export", "page", "--frames", "2:3")
        self.assertIn("page/index.html: 2 frames", done.stdout)
        names = sorted(path.name for path in (self.dir / "page/data").iterdir())
        self.assertEqual(names, ["particles_1.js", "particles_2.js", "run.js", "solids_1.js", "solids_2.js", "stats.js",
                                 "surface_1.js", "surface_2.js"])
        self.assertIn('data-static="on"', (self.dir / "page/index.html").read_text())
        self.assert_no_leftovers("page")

    def test_what_is_no_name_of_a_host_is_refused(self):
        self.treacle("run", "drop.yaml", "-o", "out", "--frames", 1, "-q")
        done = self.treacle("view", "out", "--host", "http://studio.local", code=2)
        self.assertIn("is not a name like studio.local", done.stderr)

    def test_a_folder_without_a_run_is_refused(self):
        self.assertIn("holds no run", self.treacle("view", ".", code=2).stderr)


if __name__ == "__main__":
    harness.main()
