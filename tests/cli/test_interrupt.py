"""Ctrl-C and SIGTERM end a run after its step; what is on disk is whole and can be resumed."""

import signal

import harness

SLOW = ("--set", "step.max_dt=0.05 ms")


class Interrupt(harness.Case):
    def interrupt(self, number):
        process = self.start("run", "drop.yaml", "-o", "out", *SLOW)
        for line in process.stderr:
            if line.startswith("frame 3/"):
                process.send_signal(number)
                break
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertRegex(errors, r"treacle: interrupted after step \d+; frames 1 to \d+ of 10")
        self.assertIn('treacle: hint: go on with "treacle resume out"\n', errors)

    def check_resume(self):
        self.treacle("info", "out")
        self.assert_no_leftovers("out")
        self.treacle("run", "drop.yaml", "-o", "reference", "-q", *SLOW)
        self.treacle("resume", "out")
        self.assert_same("out", "reference")

    def test_ctrl_c_ends_with_a_valid_cache(self):
        self.interrupt(signal.SIGINT)
        self.check_resume()

    def test_terminate_ends_with_a_valid_cache(self):
        self.interrupt(signal.SIGTERM)
        self.check_resume()


if __name__ == "__main__":
    harness.main()
