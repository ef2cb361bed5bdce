using System.Net;
using Microsoft.Extensions.Logging;

namespace QuickSilver.Tool.Etcd;

internal static partial class EtcdLog
{
    [LoggerMessage(3001, LogLevel.Information, "This server leads. The last configuration before was {Configuration}.")]
    public static partial void Leads(this ILogger logger, long configuration);

    [LoggerMessage(3002, LogLevel.Information, "The server at {Address} leads. This one stands by.")]
    public static partial void StandsBy(this ILogger logger, string address);

    [LoggerMessage(3006, LogLevel.Error,
        "Another server leads with the address of this one, {Address}. Give each server its own with --listen. This one stands by.")]
    public static partial void Namesake(this ILogger logger, string address);

    [LoggerMessage(3003, LogLevel.Warning, "This server does not lead any more: {Reason}. Nodes continue in their last views.")]
    public static partial void Deposed(this ILogger logger, string reason);

    [LoggerMessage(3004, LogLevel.Warning, "The leader at {Address} is gone. Its lease ends now.")]
    public static partial void LeaderGone(this ILogger logger, string address);

    [LoggerMessage(3005, LogLevel.Warning, "{Reason} No server can become the leader until etcd answers.")]
    public static partial void Unavailable(this ILogger logger, string reason);

    [LoggerMessage(1332, LogLevel.Warning,
        "{Reason} This server leads, and changes wait until etcd takes the number of the next configuration ({Count} attempts so far).")]
    public static partial void ClaimWaits(this ILogger logger, string reason, long count);

    [LoggerMessage(3007, LogLevel.Error,
        "This server was elected and cannot lead, because it cannot listen on {EndPoint}: {Reason} It leaves leading to another "
        + "server, and tries every {Interval} to listen again. Find the program that uses the port (Linux: ss -tanp), and end it, or "
        + "give this server a port outside of the system's ephemeral range with --listen.")]
    public static partial void CannotLead(this ILogger logger, IPEndPoint endPoint, string reason, TimeSpan interval);

    [LoggerMessage(3008, LogLevel.Error,
        "This server cannot stand by, because it cannot listen on {EndPoint}: {Reason} It does not stand for leader meanwhile, and tries "
        + "again every {Interval} ({Count} times so far).")]
    public static partial void CannotStandBy(this ILogger logger, IPEndPoint endPoint, string reason, TimeSpan interval, long count);
}
