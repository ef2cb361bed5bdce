using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Tool.Catalog;

namespace QuickSilver.Tool.Etcd;

// Connects to members of etcd, with TLS where their URL says so, and says in words why that failed. Files are read again when they have
// changed and a connection is made.
internal sealed class EtcdConnections
{
    // So that a connection made with files of before is not kept forever.
    private static readonly TimeSpan Lifetime = TimeSpan.FromMinutes(10);
    private const int MostErrorCharacters = 200;
    private static readonly string[] GatewayFaults = ["connection closed", "transport", "handshake"];

    private readonly EtcdAccess _access;
    private readonly WatchedFiles<EtcdCredentials> _files;

    /// <param name="access">Where etcd is.</param>
    /// <param name="log">The log for files that were read again.</param>
    /// <exception cref="CredentialException">A file cannot be used.</exception>
    public EtcdConnections(EtcdAccess access, ILogger log)
    {
        _access = access;
        EtcdFile?[] files = [access.Certificate, access.Authority];
        _files = new WatchedFiles<EtcdCredentials>(
            () => EtcdCredentials.Read(access.Certificate, access.Authority),
            [.. files.OfType<EtcdFile>().Select(static file => file.Path)],
            TimeProvider.System,
            (what, isGood) => CoreLog.CredentialsLookedAt(log, what, isGood));
    }

    /// <summary>Called with each certificate that a member shows, accepted or not, from several threads.</summary>
    public Action<DnsEndPoint, X509Certificate2>? Shown { get; init; }

    public HttpClient NewClient(TimeSpan connectLimit, int mostAnswerBytes)
    {
        var handler = new SocketsHttpHandler
        {
            UseProxy = false,
            ConnectTimeout = connectLimit,
            PooledConnectionLifetime = Lifetime,
            // A stream that has TLS already is used unchanged.
            ConnectCallback = (context, cancellationToken) =>
                ConnectAsync(context.DnsEndPoint, context.InitialRequestMessage.RequestUri!.Scheme, cancellationToken),
        };
        return new HttpClient(handler) { Timeout = Timeout.InfiniteTimeSpan, MaxResponseContentBufferSize = mostAnswerBytes };
    }

    /// <summary>Whether certificates are why a member did not answer.</summary>
    public static EtcdKeyFault KeyFaultOf(Uri member, Exception failure)
    {
        var (innermost, isAlert, disbelief) = Unwrap(failure);
        return disbelief is not null ? EtcdKeyFault.NotBelieved
            : member.Scheme == Uri.UriSchemeHttps && (isAlert || IsCut(failure, innermost)) ? EtcdKeyFault.NotAccepted
            : EtcdKeyFault.None;
    }

    /// <summary>Why a member did not answer, as the end of a sentence.</summary>
    public string InWords(Uri member, Exception failure)
    {
        var (innermost, isAlert, disbelief) = Unwrap(failure);
        string words = innermost.Message.TrimEnd('.');
        return disbelief is not null ? disbelief.Message
            : member.Scheme == Uri.UriSchemeHttp && IsEnded(innermost)
                ? $"it closed the connection ({words}), as one does that requires https"
            : KeyFaultOf(member, failure) == EtcdKeyFault.None ? words
            : (_access.Certificate, isAlert) switch
            {
                (null, true) => $"it requires a certificate, and none is given with --etcd-certificate ({words})",
                (null, false) => $"it closed the connection ({words}), as one does that requires a certificate (--etcd-certificate)",
                ({ } own, true) => $"it does not accept the certificate of {own.Source}, {own.Path} ({words})",
                ({ } own, false) =>
                    $"it closed the connection ({words}), as one does that does not accept the certificate of {own.Source}, {own.Path}",
            };
    }

    /// <summary>Why a member refused a request, as the end of a sentence.</summary>
    public static string InWords(Uri member, HttpStatusCode status, byte[] answer)
    {
        string? error = null;
        try
        {
            error = JsonSerializer.Deserialize(answer, EtcdJson.Default.EtcdError)?.Error is { } text ? SafeText.Of(text) : null;
        }
        catch (JsonException)
        {
            // The status alone is reported.
        }

        // The gateway is itself a client of the member, with the certificate of the member.
        bool isCutOff = member.Scheme == Uri.UriSchemeHttps && error is not null
            && GatewayFaults.Any(fault => error.Contains(fault, StringComparison.Ordinal));
        return isCutOff ? $"status {(int)status} ({error}): its certificate must be for both, server and client"
            : error is { Length: > 0 and <= MostErrorCharacters } ? $"status {(int)status} ({error})"
            : $"status {(int)status}";
    }

    private static (Exception Innermost, bool IsAlert, EtcdTlsException? Disbelief) Unwrap(Exception failure)
    {
        var innermost = failure;
        bool isAlert = false;
        for (var one = failure; one is not null; one = one.InnerException)
        {
            if (one is EtcdTlsException disbelief)
            {
                return (one, isAlert, disbelief);
            }

            innermost = one;
            isAlert |= one.Message.Contains("alert", StringComparison.OrdinalIgnoreCase);
        }

        return (innermost, isAlert, null);
    }

    // etcd looks at the certificate after the handshake, as TLS 1.3 has it, and may close before its alert is read.
    private static bool IsCut(Exception failure, Exception innermost) =>
        failure is HttpRequestException { HttpRequestError: not HttpRequestError.ConnectionError } && IsBroken(innermost);

    private static bool IsBroken(Exception innermost) =>
        innermost is SocketException { SocketErrorCode: SocketError.ConnectionReset or SocketError.Shutdown } || IsEnded(innermost);

    private static bool IsEnded(Exception innermost) =>
        innermost is HttpIOException { HttpRequestError: HttpRequestError.ResponseEnded };

    private async ValueTask<Stream> ConnectAsync(DnsEndPoint member, string scheme, CancellationToken cancellationToken)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            await socket.ConnectAsync(member, cancellationToken);
        }
        catch
        {
            socket.Dispose();
            throw;
        }

        var stream = new NetworkStream(socket, ownsSocket: true);
        return scheme == Uri.UriSchemeHttps ? await ProtectAsync(stream, member, cancellationToken) : stream;
    }

    private async Task<SslStream> ProtectAsync(NetworkStream stream, DnsEndPoint member, CancellationToken cancellationToken)
    {
        string? fault = null;
        var tls = new SslStream(stream, leaveInnerStreamOpen: false);
        var options = _files.Refresh().OptionsFor(member.Host);
        options.RemoteCertificateValidationCallback = (_, certificate, chain, errors) =>
        {
            if (certificate is X509Certificate2 shown)
            {
                Shown?.Invoke(member, shown);
            }

            fault = FaultOf(certificate as X509Certificate2, chain, errors, member.Host);
            return fault is null;
        };
        try
        {
            await tls.AuthenticateAsClientAsync(options, cancellationToken);
            return tls;
        }
        catch (Exception exception)
        {
            await tls.DisposeAsync();
            if (exception is AuthenticationException or IOException && fault is not null)
            {
                throw new EtcdTlsException(fault, exception);
            }

            throw;
        }
    }

    // Null: it is trusted.
    private string? FaultOf(X509Certificate2? certificate, X509Chain? chain, SslPolicyErrors errors, string host)
    {
        if (errors == SslPolicyErrors.None)
        {
            return null;
        }

        if (certificate is null)
        {
            return "it has shown no certificate";
        }

        string holder = $"its certificate '{SafeText.Of(certificate.GetNameInfo(X509NameType.SimpleName, forIssuer: false))}'";
        var status = chain?.ChainStatus.Aggregate(X509ChainStatusFlags.NoError, static (all, one) => all | one.Status) ?? default;
        return status.HasFlag(X509ChainStatusFlags.NotTimeValid)
                ? $"{holder}, or an authority of it, holds from {certificate.NotBefore.ToUniversalTime():u} to "
                    + $"{certificate.NotAfter.ToUniversalTime():u} and not now"
            : (status & (X509ChainStatusFlags.PartialChain | X509ChainStatusFlags.UntrustedRoot)) != 0
                ? $"{holder} is of no authority of {Believed}"
            : errors.HasFlag(SslPolicyErrors.RemoteCertificateNameMismatch) ? $"{holder} is not for the host {host}"
            : $"{holder} is not valid ({status})";
    }

    private string Believed => _access.Authority is { } file
        ? $"{file.Source}, {file.Path}"
        : "the system; name its authority with --etcd-authority";
}

// A member of etcd that is not trusted, and why.
internal sealed class EtcdTlsException(string message, Exception cause) : Exception(message, cause);
