using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport.Streams;

namespace QuickSilver.Core.Transport.Tls;

// One side of a TLS handshake: what it shows, whom it trusts, and in words why it failed. TLS 1.3 alone, both sides with certificates.
// Nothing is resumed, so that each stream proves the identity of its peer again.
internal abstract class TlsSide(IPEndPoint remote)
{
    // What a TLS server answers to what is no TLS: a fatal alert "unexpected message". A node without security recognizes it.
    internal static readonly byte[] NoTlsAlert = [21, 3, 3, 0, 2, 2, 10];

    private string? _fault;
    private KeyFault _peerFault;

    /// <summary>The identity of the peer; valid after the handshake.</summary>
    public PeerIdentity Peer { get; private set; }

    /// <summary>What the peer has shown; valid after the handshake. Null: it follows from a secret.</summary>
    public PeerCertificate? PeerCertificate { get; private set; }

    /// <summary>The hash of the authority that vouches for the peer.</summary>
    public string Root { get; private set; } = "";

    /// <summary>Valid after the handshake has failed, or the stream has ended.</summary>
    public KeyFault KeyFault { get; protected set; }

    protected TlsCredentials? Credentials { get; set; }

    protected abstract string PeerInWords { get; }

    protected IPEndPoint Remote { get; } = remote;

    protected abstract PeerRole PeerRole { get; }

    /// <summary>Connects, if this side does.</summary>
    public abstract Task ConnectAsync(SocketPipes pipes, CancellationToken limit);

    /// <summary>The handshake, with what the process shows and trusts now.</summary>
    public Task AuthenticateAsync(SslStream stream, TlsCredentials known, CancellationToken limit)
    {
        Credentials = known;
        return HandshakeAsync(stream, known, limit);
    }

    protected abstract Task HandshakeAsync(SslStream stream, TlsCredentials known, CancellationToken limit);

    /// <summary>Why the stream ended before anything came over it, as the end of a sentence.</summary>
    public abstract string BeforeAnything(Exception? failure);

    /// <summary>Why the handshake failed, as the end of a sentence.</summary>
    public string InWords(Exception failure, FirstBytesStream? beneath, TimeSpan limit)
    {
        (string words, KeyFault) = failure switch
        {
            OperationCanceledException =>
                ($"the TLS handshake with {PeerInWords} did not end within {limit.TotalSeconds} s", KeyFault.None),
            _ when _fault is not null => ($"{PeerInWords} {_fault}{Advice}", _peerFault),
            _ when beneath is { IsForeign: true } => (Foreign, KeyFault.ServiceWithoutKey),
            SocketException refusal when beneath is null => (ConnectFailure(refusal.SocketErrorCode), KeyFault.None),
            _ when beneath is { HasAny: false } => (Silent, KeyFault.None),
            AuthenticationException { InnerException: { } inner } when IsAlert(inner) => (Refused, FaultOfRefusal),
            _ => ($"the TLS handshake with {PeerInWords} failed: {Innermost(failure)}", KeyFault.None),
        };
        return words;
    }

    protected abstract string Advice { get; }

    protected abstract string Foreign { get; }

    protected abstract string Silent { get; }

    protected abstract string Refused { get; }

    protected abstract KeyFault FaultOfRefusal { get; }

    protected virtual string ConnectFailure(SocketError error) => StreamFailure.InWords(error);

    protected bool Validate(X509Certificate? certificate, X509Chain? chain)
    {
        var known = certificate as X509Certificate2;
        if (!Credentials!.TryIdentify(known, chain, PeerRole, out var identity, out string fault))
        {
            _fault = fault;
            bool isOurs = chain is { ChainElements.Count: > 0 }
                && Credentials.Believes(TlsCredentials.HashOf(chain.ChainElements[^1].Certificate));
            _peerFault = isOurs ? KeyFault.ServiceCertificate : KeyFault.OtherService;
            return false;
        }

        Peer = identity;
        PeerCertificate = identity.IsShared ? null : new PeerCertificate(identity.Name, known!.NotBefore, known.NotAfter);
        Root = TlsCredentials.HashOf(chain!.ChainElements[^1].Certificate);
        return true;
    }

    // The library below names an alert of the peer in its text only.
    protected static bool IsAlert(Exception failure)
    {
        for (Exception? one = failure; one is not null; one = one.InnerException)
        {
            if (one.Message.Contains("alert", StringComparison.OrdinalIgnoreCase))
            {
                return true;
            }
        }

        return false;
    }

    protected static string Innermost(Exception failure)
    {
        while (failure.InnerException is { } inner)
        {
            failure = inner;
        }

        return failure.Message.TrimEnd('.');
    }
}

// Of a node or an observer, which connects.
internal sealed class TlsClientSide(IPAddress local, IPEndPoint remote) : TlsSide(remote)
{
    protected override string PeerInWords => $"the service at {Remote}";

    protected override PeerRole PeerRole => PeerRole.Service;

    protected override string Advice => $"; the service and this node must have the same secret, or certificates of one authority";

    protected override string Foreign =>
        $"the service at {Remote} does not use TLS: it runs without security, and this node has a key. Give the service a key, too, "
        + "or start this node without security (Security:Mode None)";

    protected override string Silent =>
        $"the service at {Remote} closed the connection before the TLS handshake: it runs without security, or has too many connections "
        + "of which the handshake is under way";

    protected override string Refused => OwnFault is { } fault
        ? $"the service at {Remote} does not accept the certificate of this node: {fault}"
        : $"the service at {Remote} does not accept the {Credentials!.Origin} of this node";

    protected override KeyFault FaultOfRefusal => OwnFault is null ? KeyFault.NotAccepted : KeyFault.OwnCertificate;

    private string? OwnFault => Credentials!.FaultOfOwn(PeerRole.Node, TimeProvider.System.GetUtcNow());

    public override Task ConnectAsync(SocketPipes pipes, CancellationToken limit) =>
        pipes.ConnectAsync(TcpControlStream.OriginOf(local, Remote), Remote, limit);

    protected override Task HandshakeAsync(SslStream stream, TlsCredentials known, CancellationToken limit) =>
        stream.AuthenticateAsClientAsync(
            new SslClientAuthenticationOptions
            {
                TargetHost = known.TargetHost,
                ClientCertificateContext = known.Own,
                EnabledSslProtocols = SslProtocols.Tls13,
                CertificateChainPolicy = known.NewPolicy(),
                RemoteCertificateValidationCallback = (_, certificate, chain, _) => Validate(certificate, chain),
                AllowTlsResume = false,
                AllowRenegotiation = false,
            },
            limit);

    // The service looks at the certificate after this side is done, and its refusal may be lost when it resets the connection. Then what is
    // wrong with the own certificate says more than how the connection ended.
    public override string BeforeAnything(Exception? failure)
    {
        bool isRefusal = OwnFault is not null || (failure is not null && IsAlert(failure));
        KeyFault = isRefusal || failure is null ? FaultOfRefusal : KeyFault.None;
        return isRefusal ? Refused
            : $"the service at {Remote} closed the stream after the TLS handshake"
                + (failure is null ? "" : $" ({Innermost(failure)})")
                + $": it {LikeliestCauses}";
    }

    // A service of another secret has shown that by its own certificate before.
    private string LikeliestCauses => Credentials!.IsOfSecret
        ? "ends, has too many connections, or does not accept the secret of this node any more"
        : "does not accept the authority of this node, has too many connections, or ends";

    protected override string ConnectFailure(SocketError error) =>
        $"cannot connect to {Remote} from {local}: {StreamFailure.InWords(error)}";
}

// Of a membership service, to which a peer has connected.
internal sealed class TlsServerSide(IPEndPoint remote) : TlsSide(remote)
{
    protected override string PeerInWords => $"the peer at {Remote}";

    protected override PeerRole PeerRole => PeerRole.Node;

    protected override string Advice => "";

    protected override string Foreign => $"the peer at {Remote} does not use TLS";

    protected override string Silent => $"the peer at {Remote} closed the connection before the TLS handshake";

    protected override KeyFault FaultOfRefusal => KeyFault.None;

    protected override string Refused => $"the peer at {Remote} does not accept the {Credentials?.Origin ?? "certificate"} of this service";

    public override Task ConnectAsync(SocketPipes pipes, CancellationToken limit)
    {
        pipes.Begin();
        return Task.CompletedTask;
    }

    protected override Task HandshakeAsync(SslStream stream, TlsCredentials known, CancellationToken limit) =>
        stream.AuthenticateAsServerAsync(
            (_, hello, _, _) => ValueTask.FromResult(new SslServerAuthenticationOptions
            {
                ServerCertificateContext = known.ContextFor(hello.ServerName),
                ClientCertificateRequired = true,
                EnabledSslProtocols = SslProtocols.Tls13,
                CertificateChainPolicy = known.NewPolicy(),
                RemoteCertificateValidationCallback = (_, certificate, chain, _) => Validate(certificate, chain),
                AllowTlsResume = false,
                AllowRenegotiation = false,
            }),
            null,
            limit);

    public override string BeforeAnything(Exception? failure) =>
        failure is null ? "the peer closed the stream" : IsAlert(failure) ? Refused : StreamFailure.Of(failure);
}
