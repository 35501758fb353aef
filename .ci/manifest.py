"""A manifest without a fault, for what is run on it."""

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
