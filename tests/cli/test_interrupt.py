"""Ctrl-C and SIGTERM end a run after its step; what is on disk is whole and can be resumed."""

import re
import signal

import harness

class Interrupt(harness.Case):
    def interrupt(self, number):
        """Ends an endless run in its third frame or soon after."""
        process = self.start("run", "drop.yaml", "-o", "out", "--frames", 1000000)
        for line in process.stderr:
            if line.startswith("frame 3/"):
                process.send_signal(number)
                break
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        told = re.search(r"treacle: interrupted after step \d+; frames 1 to (\d+) of 1000000 are in "
                         r"out\ntreacle: hint: go on with \"treacle resume out\"\n", errors)
        self.assertIsNotNone(told, errors)
        return int(told.group(1))

    def check_resume(self, done):
        self.treacle("info", "out")
        self.assert_no_leftovers("out")
        self.assertEqual(len(list((self.dir / "out").glob("frame_*.trf"))), done)
        self.assertTrue((self.dir / f"out/state_{done:04}.trs").exists())
        self.treacle("run", "drop.yaml", "-o", "reference", "-q", "--frames", done + 2)
        self.treacle("resume", "out", "--frames", done + 2)
        self.assert_same("out", "reference")

    def test_ctrl_c_ends_with_a_valid_cache(self):
        self.check_resume(self.interrupt(signal.SIGINT))

    def test_terminate_ends_with_a_valid_cache(self):
        self.check_resume(self.interrupt(signal.SIGTERM))


if __name__ == "__main__":
    harness.main()
