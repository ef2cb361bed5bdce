using System.Net.Sockets;

namespace QuickSilver.Core.Transport.Streams;

// Why a stream could not be made or failed, in words.
internal static class StreamFailure
{
    // The system's own words differ from one to the next, and say neither that a host answered nor what to look at.
    public static string InWords(SocketError error) => error switch
    {
        SocketError.ConnectionRefused => "connection refused; nothing listens there, or a firewall blocks it",
        SocketError.HostUnreachable or SocketError.NetworkUnreachable or SocketError.NetworkDown => "no route to host",
        SocketError.TimedOut => "connection attempt timed out",
        _ => new SocketException((int)error).Message,
    };

    public static string Of(SocketError error) => $"the stream failed: {new SocketException((int)error).Message}";

    public static string Of(Exception failure)
    {
        while (failure.InnerException is { } inner)
        {
            failure = inner;
        }

        return $"the stream failed: {failure.Message.TrimEnd('.')}";
    }
}
