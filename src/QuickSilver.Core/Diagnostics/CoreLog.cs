using System.Net;
using Microsoft.Extensions.Logging;

namespace QuickSilver.Core.Diagnostics;

// Core's log events, ids 1000 to 1199. An id is for ever: one that is retired stays here as a comment and is not reused.
internal static partial class CoreLog
{
    [LoggerMessage(1000, LogLevel.Debug, "Port {Port} is open; datagram path {Path}, receive buffer {ReceiveBufferBytes} bytes.")]
    public static partial void PortOpened(ILogger logger, IPEndPoint port, string path, int receiveBufferBytes);

    [LoggerMessage(1001, LogLevel.Warning,
        "Port {Port} asked for a receive buffer of {AskedBytes} bytes and the kernel gave room for {GivenBytes}; "
        + "bursts beyond that are lost and repaired. To lift the limit: sysctl -w net.core.rmem_max={AskedSysctl}")]
    public static partial void ReceiveBufferClamped(ILogger logger, IPEndPoint port, int askedBytes, int givenBytes, int askedSysctl);

    [LoggerMessage(1002, LogLevel.Warning,
        "The system refused a run of {SegmentBytes}-byte datagrams from {Port} to {Destination}; "
        + "the port sends single datagrams from now on.")]
    public static partial void RunRefused(ILogger logger, IPEndPoint port, Transport.DatagramAddress destination, int segmentBytes);

    [LoggerMessage(1003, LogLevel.Warning,
        "Packet memory is all leased ({LeasedBlocks} blocks); receives are put off and the kernel drops what its buffers cannot hold.")]
    public static partial void PacketMemoryExhausted(ILogger logger, long leasedBlocks);

    [LoggerMessage(1004, LogLevel.Warning, "Accepting on {Listener} failed ({Reason}); trying again.")]
    public static partial void AcceptFailed(ILogger logger, IPEndPoint listener, string reason);

    [LoggerMessage(1006, LogLevel.Warning,
        "The port {Port} was in its group no more, as the interface was made anew; it has joined again.")]
    public static partial void MembershipRenewed(ILogger logger, IPEndPoint port);

    [LoggerMessage(1010, LogLevel.Information, "The core thread {Name} runs on {Poller}.")]
    public static partial void CoreThreadStarted(ILogger logger, string name, string poller);

    [LoggerMessage(1011, LogLevel.Information, "The core thread {Name} has stopped.")]
    public static partial void CoreThreadStopped(ILogger logger, string name);

    [LoggerMessage(1012, LogLevel.Critical, "The core thread {Name} cannot go on.")]
    public static partial void CoreThreadFailed(ILogger logger, Exception exception, string name);

    [LoggerMessage(1020, LogLevel.Error, "{Handler} let an exception escape; the core thread goes on.")]
    public static partial void HandlerThrew(ILogger logger, Exception exception, object handler);

    [LoggerMessage(1021, LogLevel.Warning, "{Handler} held the core thread for {Milliseconds:F0} ms; nothing else ran meanwhile.")]
    public static partial void HandlerHeldThread(ILogger logger, object handler, double milliseconds);

    [LoggerMessage(1022, LogLevel.Warning,
        "A step of {Milliseconds:F0} ms ({Handler}) was mostly the garbage collector, "
        + "which stopped the process for {PauseMilliseconds:F0} ms.")]
    public static partial void CollectorHeldThread(ILogger logger, object handler, double milliseconds, double pauseMilliseconds);

    [LoggerMessage(1023, LogLevel.Warning,
        "The core thread woke {Milliseconds:F0} ms late; "
        + "the garbage collector had stopped the process for {PauseMilliseconds:F0} ms of that.")]
    public static partial void WokeLate(ILogger logger, double milliseconds, double pauseMilliseconds);

    [LoggerMessage(1024, LogLevel.Information,
        "A step of {Milliseconds:F0} ms ({Handler}) was mostly its first compilation, {CompilationMilliseconds:F0} ms; "
        + "it does not recur.")]
    public static partial void CompilerHeldThread(ILogger logger, object handler, double milliseconds, double compilationMilliseconds);
}
