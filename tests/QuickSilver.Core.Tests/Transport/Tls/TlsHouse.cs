using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Tls;

namespace QuickSilver.Core.Tests.Transport.Tls;

// Secrets and certificates of the tests.
internal static class TlsHouse
{
    public static readonly IPEndPoint AnyPort = new(IPAddress.Loopback, 0);

    public static Secret NewSecret(string name) => Secret.Of(name, RandomNumberGenerator.GetBytes(Secret.LeastKeyBytes));

    public static IStreamCredentials Of(params Secret[] secrets) => new FixedCredentials(TlsCredentials.Of(secrets));

    public static X509Certificate2 NewAuthority(string name)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var now = DateTimeOffset.UtcNow;
        return CertificateIssue.Authority(key, CertificateIssue.Named(name), now.AddDays(-30), now.AddDays(365));
    }

    public static IStreamCredentials Of(X509Certificate2 authority, string name, PeerRole role, int fromDays = -1, int untilDays = 30)
    {
        var now = DateTimeOffset.UtcNow;
        var certificate = CertificateIssue.Of(authority, name, role, now.AddDays(fromDays), now.AddDays(untilDays));
        return new FixedCredentials(TlsCredentials.Of(certificate, [], [X509CertificateLoader.LoadCertificate(authority.RawData)]));
    }
}

// A service that echoes, and remembers whom it took in and whom not.
internal sealed class TlsService : IControlAcceptor, IDisposable
{
    private readonly MachineNode _node;
    private readonly IControlListener _listener;
    private readonly List<PeerIdentity?> _admitted = [];
    private readonly List<(string Reason, StreamRefusal Kind)> _refused = [];
    private readonly List<StreamRecorder> _recorders = [];

    public TlsService(IStreamCredentials? credentials)
    {
        _node = new MachineNode(credentials);
        _listener = _node.Do(() => _node.Environment.Listen(TlsHouse.AnyPort, this));
        At = _listener.LocalEndPoint;
    }

    public IPEndPoint At { get; }

    public Func<IControlStream, byte[], int>? OnOffer { get; init; }

    public PeerIdentity?[] Admitted => Locked(_admitted);

    public (string Reason, StreamRefusal Kind)[] Refused => Locked(_refused);

    public StreamRecorder[] Recorders => Locked(_recorders);

    /// <summary>Takes no more connections.</summary>
    public void StopListening() => _node.Do(_listener.Dispose);

    public IControlStreamHandler? OnAccept(IControlStream stream)
    {
        var recorder = new StreamRecorder { OnOffer = OnOffer ?? Echo };
        lock (_admitted)
        {
            _admitted.Add(stream.Peer);
            _recorders.Add(recorder);
        }

        return recorder;
    }

    public void OnRefused(IPEndPoint remote, string reason, StreamRefusal kind)
    {
        lock (_admitted)
        {
            _refused.Add((reason, kind));
        }
    }

    public void Dispose() => _node.Dispose();

    private static int Echo(IControlStream stream, byte[] bytes)
    {
        stream.Send(bytes);
        return bytes.Length;
    }

    private T[] Locked<T>(List<T> list)
    {
        lock (_admitted)
        {
            return [.. list];
        }
    }
}

// A node that connects to services.
internal sealed class TlsNode(IStreamCredentials? credentials) : IDisposable
{
    public MachineNode Node { get; } = new(credentials);

    public (IControlStream Stream, StreamRecorder Told) Connect(IPEndPoint to)
    {
        var told = new StreamRecorder();
        return (Node.Do(() => Node.Environment.Connect(to, told)), told);
    }

    public void Dispose() => Node.Dispose();
}
