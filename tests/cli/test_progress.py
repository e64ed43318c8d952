"""The progress line on a terminal: it fits the width, is redrawn in place and leaves nothing."""

import fcntl
import os
import pty
import struct
import subprocess
import termios

import harness


class Progress(harness.Case):
    def on_terminal(self, width, *args):
        """What the command writes to a terminal of that width."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        process = subprocess.Popen([harness.TREACLE, *args], cwd=self.dir, stderr=theirs,
                                   stdout=subprocess.DEVNULL)
        os.close(theirs)
        written = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            written += part
        os.close(ours)
        self.assertEqual(process.wait(), 0)
        return written.decode()

    def test_the_line_fits_and_is_cleared(self):
        for width in (40, 80, 132):
            with self.subTest(width):
                text = self.on_terminal(width, "run", "drop.yaml", "-o", f"out{width}")
                self.assertTrue(text.endswith("\r\x1b[K"))
                self.assertNotIn("\n", text)
                lines = [line for line in text.split("\r\x1b[K") if line]
                self.assertGreater(len(lines), 9)
                self.assertLess(max(map(len, lines)), width)
                self.assertTrue(lines[0].startswith("frame 1/10  "))
                self.assertIn("100 %", lines[-1])
                if width >= 80:
                    self.assertIn("[######", lines[-1])
                    self.assertIn(" particles", lines[-1])
                    self.assertRegex(lines[-2], r"step \d+  \d+ particles  \d+ it\.$")

    def test_quiet_shows_nothing(self):
        self.assertEqual(self.on_terminal(80, "run", "drop.yaml", "-o", "out", "-q"), "")


if __name__ == "__main__":
    harness.main()
