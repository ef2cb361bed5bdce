namespace QuickSilver.Core.Security.Identities;

// The proved identity of the other end of a stream: the name of the secret, which many may share, or the common name of a certificate.
internal readonly record struct PeerIdentity(string Name, bool IsShared)
{
    public override string ToString() => Name;
}

// The certificate that the other end of a stream has shown, if it was not made of a secret: its name and its dates.
internal sealed record PeerCertificate(string Name, DateTimeOffset From, DateTimeOffset Until);

// What a certificate may be used for. Peers accept nothing from a holder of neither.
[Flags]
internal enum PeerRole
{
    None = 0,

    // Of a node, which connects: the extended key usage clientAuth.
    Node = 1,

    // Of a membership service, to which nodes connect: serverAuth.
    Service = 2,
}
