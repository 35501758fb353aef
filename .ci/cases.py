"""What the checks of the action and of the hook share: a manifest without a fault, and a count of cases."""
import textwrap

GOOD = """\
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata:
  name: partner
  namespace: payments
spec:
  hosts:
  - api.partner.example
  location: MESH_EXTERNAL
  ports:
  - number: 443
    name: tls
    protocol: TLS
  resolution: DNS
"""


class Tally:
    """Counts cases. Its last line is `N passed, M failed`."""

    def __init__(self):
        self.passed = self.failed = 0

    def count(self, title: str, fault: str | None, log: str):
        """A case, and what is wrong with it, if anything; then `log` is shown."""
        if fault is None:
            self.passed += 1
        else:
            self.failed += 1
            print(f"{title}: {fault}\n{textwrap.indent(log, '  ')}")

    def end(self) -> int:
        """The exit status: 0 when nothing failed."""
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0
