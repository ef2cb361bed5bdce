using System.Net;
using Microsoft.Extensions.Logging;

namespace QuickSilver.Core.Diagnostics;

// Core's log events, ids 1000 to 1199. An id is permanent: one that is retired stays here as a comment and is not reused.
internal static partial class CoreLog
{
    [LoggerMessage(1000, LogLevel.Debug, "Opened port {Port}: datagram path {Path}, receive buffer {ReceiveBufferBytes} bytes.")]
    public static partial void PortOpened(ILogger logger, IPEndPoint port, string path, int receiveBufferBytes);

    [LoggerMessage(1001, LogLevel.Warning,
        "Port {Port} requested a receive buffer of {AskedBytes} bytes and the kernel granted {GivenBytes}. "
        + "Larger bursts are lost and repaired. To raise the limit: sysctl -w net.core.rmem_max={AskedSysctl}")]
    public static partial void ReceiveBufferClamped(ILogger logger, IPEndPoint port, int askedBytes, int givenBytes, int askedSysctl);

    [LoggerMessage(1002, LogLevel.Warning,
        "The system refused to segment a run of {SegmentBytes}-byte datagrams from {Port} to {Destination}. "
        + "The port sends single datagrams from now on.")]
    public static partial void RunRefused(ILogger logger, IPEndPoint port, Transport.DatagramAddress destination, int segmentBytes);

    [LoggerMessage(1003, LogLevel.Warning,
        "Packet memory is exhausted ({LeasedBlocks} blocks leased). Receiving is paused, and full socket buffers drop datagrams.")]
    public static partial void PacketMemoryExhausted(ILogger logger, long leasedBlocks);

    [LoggerMessage(1004, LogLevel.Warning, "Accepting on {Listener} failed: {Reason}. Retrying.")]
    public static partial void AcceptFailed(ILogger logger, IPEndPoint listener, string reason);

    [LoggerMessage(1006, LogLevel.Warning,
        "Port {Port} lost its group membership because the interface was recreated. It has joined the group again.")]
    public static partial void MembershipRenewed(ILogger logger, IPEndPoint port);

    [LoggerMessage(1010, LogLevel.Information, "Core thread {Name} started with poller {Poller}.")]
    public static partial void CoreThreadStarted(ILogger logger, string name, string poller);

    [LoggerMessage(1011, LogLevel.Information, "Core thread {Name} stopped.")]
    public static partial void CoreThreadStopped(ILogger logger, string name);

    [LoggerMessage(1012, LogLevel.Critical, "Core thread {Name} failed and stopped.")]
    public static partial void CoreThreadFailed(ILogger logger, Exception exception, string name);

    [LoggerMessage(1013, LogLevel.Information, "Secrets or certificates were read again from {Files}.")]
    public static partial void CredentialsRead(ILogger logger, string files);

    [LoggerMessage(1014, LogLevel.Error, "Secrets or certificates have changed and cannot be used, so those from before stay: {Reason}")]
    public static partial void CredentialsUnusable(ILogger logger, string reason);

    [LoggerMessage(1015, LogLevel.Warning,
        "Every user of this machine can read {File}, and so join the cluster. Run 'chmod 600 {File}' as its owner.")]
    public static partial void SecretReadByAll(ILogger logger, string file);

    [LoggerMessage(1016, LogLevel.Warning,
        "The certificate {Certificate} is not of an authority of {Authorities}. Processes that trust the same authorities refuse this "
        + "one. Issue the certificate with one of these authorities, or add its authority to them.")]
    public static partial void OwnNotBelieved(ILogger logger, string certificate, string authorities);

    [LoggerMessage(1017, LogLevel.Information,
        "This node never hosts the membership service, because other nodes would not accept its certificate as that of a service: {Fault}. "
        + "To let it host, issue one with 'qsm keys certificate --role both'.")]
    public static partial void HostsNoService(ILogger logger, string fault);

    /// <summary>Files of secrets or certificates were read again, or could not be used.</summary>
    public static void CredentialsLookedAt(ILogger logger, string what, bool isGood)
    {
        if (isGood)
        {
            CredentialsRead(logger, what);
        }
        else
        {
            CredentialsUnusable(logger, what);
        }
    }

    [LoggerMessage(1020, LogLevel.Error, "Unhandled exception in {Handler}. The core thread continues.")]
    public static partial void HandlerThrew(ILogger logger, Exception exception, object handler);

    [LoggerMessage(1021, LogLevel.Warning, "{Handler} blocked the core thread for {Milliseconds:F0} ms.")]
    public static partial void HandlerHeldThread(ILogger logger, object handler, double milliseconds);

    [LoggerMessage(1022, LogLevel.Warning,
        "A step of {Milliseconds:F0} ms ({Handler}) was mostly a pause by the garbage collector "
        + "of {PauseMilliseconds:F0} ms.")]
    public static partial void CollectorHeldThread(ILogger logger, object handler, double milliseconds, double pauseMilliseconds);

    [LoggerMessage(EventId = 1023, Message =
        "The core thread did not run for {Milliseconds:F0} ms, "
        + "of which the garbage collector paused the process for {PauseMilliseconds:F0} ms.")]
    public static partial void DidNotRun(ILogger logger, LogLevel level, double milliseconds, double pauseMilliseconds);

    [LoggerMessage(EventId = 1024, Message =
        "A step of {Milliseconds:F0} ms ({Handler}) was mostly JIT compilation of {CompilationMilliseconds:F0} ms, "
        + "which does not recur.")]
    public static partial void CompilerHeldThread(
        ILogger logger, LogLevel level, object handler, double milliseconds, double compilationMilliseconds);

    [LoggerMessage(1027, LogLevel.Warning,
        "A step of {Milliseconds:F0} ms ({Handler}) was mostly {ListenerMilliseconds:F0} ms in {Listener}, which blocked the core thread. "
        + "Let it return at once, such as by writing in the background.")]
    public static partial void ListenerHeldThread(
        ILogger logger, object handler, double milliseconds, double listenerMilliseconds, string listener);

    [LoggerMessage(1028, LogLevel.Warning,
        "The thread pool of the process has started no work for {Seconds:F0} s: {Waiting} work items wait for its {Threads} threads. "
        + "Consumers, readers and awaits wait with them. Let code await instead of blocking (.Result, Wait, Thread.Sleep), or raise "
        + "System.Threading.ThreadPool.MinThreads.")]
    public static partial void PoolStarved(ILogger logger, double seconds, long waiting, int threads);

    [LoggerMessage(1029, LogLevel.Information, "The thread pool of the process works again after {Seconds:F0} s.")]
    public static partial void PoolRecovered(ILogger logger, double seconds);

    [LoggerMessage(1025, LogLevel.Error, "Unhandled exception in {Work} on the stream thread. Its other streams continue.")]
    public static partial void StreamThrew(ILogger logger, Exception exception, object? work);

    [LoggerMessage(1026, LogLevel.Critical, "The stream thread failed and stopped. TLS streams of this node do not work any more.")]
    public static partial void StreamThreadFailed(ILogger logger, Exception exception);
}
