using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Diagnostics;

// The security record of a service: admissions, refusals, and denied rights. Event ids 1270 to 1279. An id is never given to another event.
// Nothing here shows a secret: identities are names.
internal static partial class AuditLog
{
    [LoggerMessage(1270, LogLevel.Information, "Admitted node {Node} at {EndPoint} as '{Identity}'.")]
    public static partial void NodeAdmitted(this ILogger audit, NamedNode node, IPEndPoint? endPoint, string identity);

    [LoggerMessage(1271, LogLevel.Information, "Admitted an observer at {EndPoint} as '{Identity}'.")]
    public static partial void ObserverAdmitted(this ILogger audit, IPEndPoint? endPoint, string identity);

    [LoggerMessage(1272, LogLevel.Warning, "Refused a connection from {EndPoint}: {Reason} ({Count} so far).")]
    public static partial void ConnectionRefused(this ILogger audit, IPEndPoint endPoint, string reason, long count);

    [LoggerMessage(1273, LogLevel.Warning, "Refused a session to '{Identity}' at {EndPoint}: {Reason} ({Count} so far).")]
    public static partial void SessionRefused(this ILogger audit, string identity, IPEndPoint? endPoint, string reason, long count);

    [LoggerMessage(1274, LogLevel.Warning, "Denied '{Identity}' (node {Node}) the right to {Right} the topic '{Topic}', by {Source}.")]
    public static partial void RightDenied(
        this ILogger audit, string identity, NamedNode node, string right, string topic, string source);

    [LoggerMessage(1275, LogLevel.Information, "Removed node {Node} ('{Identity}'): {Reason}.")]
    public static partial void NodeRemovedOf(this ILogger audit, NamedNode node, string identity, string reason);

    [LoggerMessage(1276, LogLevel.Warning, "{EndPoint} connects with TLS, but this service runs without security ({Count} so far).")]
    public static partial void TlsRefused(this ILogger audit, IPEndPoint? endPoint, long count);
}
