using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport.Tls;

namespace QuickSilver.Core.Tests.Transport.Tls;

// Certificates of an authority: names, roles and dates.
public sealed class TlsCertificateTests
{
    private static readonly System.Security.Cryptography.X509Certificates.X509Certificate2 Authority = TlsHouse.NewAuthority("authority");

    [Fact]
    public void A_node_is_known_by_the_common_name_of_its_certificate()
    {
        using var service = new TlsService(TlsHouse.Of(Authority, "gms-1", PeerRole.Service));
        using var node = new TlsNode(TlsHouse.Of(Authority, "pricer-7", PeerRole.Node));
        var (stream, told) = node.Connect(service.At);
        Patience.Until(() => told.Told.Contains("connected"), "the connection");
        Patience.Until(() => service.Admitted.Length == 1, "the admission");
        Assert.Equal(new PeerIdentity("pricer-7", IsShared: false), service.Admitted[0]);
        Assert.Equal("gms-1", node.Node.Do(() => stream.Peer)?.Name);
    }

    [Theory]
    [InlineData("role", "is not for a node (extended key usage clientAuth)")]
    [InlineData("expired", "and not now")]
    [InlineData("early", "and not now")]
    [InlineData("foreign", "presented a certificate that is not of this authority")]
    public void A_certificate_that_does_not_serve_is_refused_at_the_service(string what, string expected)
    {
        var credentials = what switch
        {
            "role" => TlsHouse.Of(Authority, "node", PeerRole.Service),
            "expired" => TlsHouse.Of(Authority, "node", PeerRole.Node, fromDays: -10, untilDays: -1),
            "early" => TlsHouse.Of(Authority, "node", PeerRole.Node, fromDays: 1),
            _ => Foreign(),
        };
        using var service = new TlsService(TlsHouse.Of(Authority, "gms", PeerRole.Service));
        using var node = new TlsNode(credentials);
        var (_, told) = node.Connect(service.At);
        Patience.Until(() => service.Refused.Length == 1, "the refusal");
        Assert.Contains(expected, service.Refused[0].Reason);
        Assert.Empty(service.Admitted);
        Patience.Until(() => told.Reason is not null, "the node hears of it");
        // It looks at its own first.
        Assert.Contains(
            what is "role" or "expired" or "early"
                ? "does not accept the certificate of this node: it "
                : "does not accept the authority of this node",
            told.Reason);
    }

    [Theory]
    [InlineData("role", "is not for a service (extended key usage serverAuth)")]
    [InlineData("expired", "and not now")]
    public void A_rogue_service_is_refused_by_the_node(string what, string expected)
    {
        using var service = new TlsService(what == "role"
            ? TlsHouse.Of(Authority, "node", PeerRole.Node)
            : TlsHouse.Of(Authority, "gms", PeerRole.Service, fromDays: -10, untilDays: -1));
        using var node = new TlsNode(TlsHouse.Of(Authority, "node", PeerRole.Node));
        var (_, told) = node.Connect(service.At);
        Patience.Until(() => told.Reason is not null, "the refusal");
        Assert.StartsWith($"closed: the service at {service.At} presented a certificate", told.Reason);
        Assert.Contains(expected, told.Reason);
        Assert.DoesNotContain("connected", told.Told);
    }

    // As a service that looks at the certificate after the node is done, when its alert is lost with the connection.
    [Theory]
    [InlineData(-1, "does not accept the certificate of this node: it holds from")]
    [InlineData(30, "closed the stream after the TLS handshake (Connection reset by peer): it does not accept the authority of this node")]
    public async Task A_connection_that_is_reset_after_the_handshake_is_reported_with_its_likely_cause(int untilDays, string expected)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "other systems have other words for a reset");
        using var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(TlsHouse.AnyPort);
        listener.Listen();
        using var node = new TlsNode(TlsHouse.Of(Authority, "node", PeerRole.Node, fromDays: -10, untilDays));
        var (_, told) = node.Connect((IPEndPoint)listener.LocalEndPoint!);
        using (var accepted = await listener.AcceptAsync())
        {
            await using var tls = new SslStream(new NetworkStream(accepted));
            await tls.AuthenticateAsServerAsync(new SslServerAuthenticationOptions
            {
                ServerCertificateContext = TlsHouse.Of(Authority, "gms", PeerRole.Service).Latest.Own,
                ClientCertificateRequired = true,
                RemoteCertificateValidationCallback = static (_, _, _, _) => true,
            });
            Patience.Until(() => told.Told.Contains("connected"), "the end of the handshake");
            accepted.LingerState = new LingerOption(enable: true, seconds: 0);
            accepted.Close();
        }

        Patience.Until(() => told.Reason is not null, "the end");
        Assert.Contains(expected, told.Reason);
    }

    [Fact]
    public void A_certificate_of_an_authority_that_is_not_trusted_is_known()
    {
        Assert.True(TlsHouse.Of(Authority, "node", PeerRole.Node).Latest.BelievesOwn());
        Assert.True(TlsHouse.Of(Authority, "node", PeerRole.Node, fromDays: -10, untilDays: -1).Latest.BelievesOwn());
        Assert.True(TlsHouse.Of(TlsHouse.NewSecret("cluster"), TlsHouse.NewSecret("cluster")).Latest.BelievesOwn());
        var own = CertificateIssue.Of(Authority, "gms", PeerRole.Service, DateTimeOffset.UtcNow, DateTimeOffset.UtcNow.AddDays(1));
        // Of the same name, with another key.
        Assert.False(TlsCredentials.Of(own, [], [TlsHouse.NewAuthority("authority")]).BelievesOwn());
    }

    // Of an authority with the same name, which it trusts itself together with the right one.
    private static FixedCredentials Foreign()
    {
        var other = TlsHouse.NewAuthority("authority");
        var now = DateTimeOffset.UtcNow;
        var certificate = CertificateIssue.Of(other, "node", PeerRole.Node, now.AddDays(-1), now.AddDays(1));
        return new FixedCredentials(TlsCredentials.Of(certificate, [], [other, Authority]));
    }
}
