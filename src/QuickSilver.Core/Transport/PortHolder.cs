using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Transport;

// Whether another program holds a port of a group, or listens at a port of TCP, and which.
//
// Linux lists its sockets with their port, user and inode, and the files of each process, among them its sockets by inode. A process
// of another user hides its files, so of that one only the user is known. Other systems report nothing here.
internal static class PortHolder
{
    private const string Sockets = "/proc/net/udp";
    private const string DualSockets = "/proc/net/udp6";
    private const string Streams = "/proc/net/tcp";
    private const string DualStreams = "/proc/net/tcp6";
    // Of a socket of TCP that listens; the others are connections, which prevent no listener.
    private const string Listening = "0A";
    private const int LocalColumn = 1;
    private const int StateColumn = 3;
    private const int UserColumn = 7;
    private const int InodeColumn = 9;
    // A machine may run many processes. The answer is worth a moment, not more.
    private const int MostProcesses = 10_000;

    /// <summary>
    /// Whether a socket of this machine keeps others from binding the port of a group. Only the binding is tried: nothing is received, so
    /// no group is joined and left on the network, and no memory is asked for.
    /// </summary>
    public static bool IsBusy(IPAddress local, IPAddress group, int port)
    {
        try
        {
            var factory = new DatagramSocketFactory(local, segmentationOffload: false, new CoreCounters(), NullLogger.Instance);
            factory.Open(new DatagramPortOptions { Group = group, Port = port, Receives = false, SegmentationOffload = false }).Dispose();
            return false;
        }
        catch (TransportException refused)
        {
            // Whatever else the system refuses is reported where the port is used.
            return refused.InnerException is SocketException { SocketErrorCode: SocketError.AddressAlreadyInUse };
        }
    }

    /// <summary>The holder of a UDP port, such as "process 4711 (dnsmasq)"; null if that cannot be known.</summary>
    public static string? Of(int port) => Find(port, Sockets, DualSockets, state: null);

    /// <summary>The listener at a TCP port; as <see cref="Of"/>.</summary>
    public static string? OfListener(int port) => Find(port, Streams, DualStreams, Listening);

    private static string? Find(int port, string sockets, string dualSockets, string? state)
    {
        if (!OperatingSystem.IsLinux())
        {
            return null;
        }

        try
        {
            return (Entry(sockets, port, state) ?? Entry(dualSockets, port, state)) is var (user, inode)
                ? Process(inode) ?? $"a process of user {user}"
                : null;
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    private static (string User, string Inode)? Entry(string file, int port, string? state)
    {
        foreach (string line in File.Exists(file) ? File.ReadLines(file).Skip(1) : [])
        {
            string[] columns = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            if (columns.Length > InodeColumn
                && (state is null || columns[StateColumn] == state)
                && int.TryParse(columns[LocalColumn].Split(':')[^1], NumberStyles.HexNumber, CultureInfo.InvariantCulture, out int bound)
                && bound == port)
            {
                return (columns[UserColumn], columns[InodeColumn]);
            }
        }

        return null;
    }

    private static string? Process(string inode)
    {
        string wanted = $"socket:[{inode}]";
        foreach (string process in Directory.EnumerateDirectories("/proc").Take(MostProcesses))
        {
            string id = Path.GetFileName(process);
            if (id.All(char.IsAsciiDigit) && Holds(process, wanted))
            {
                return $"process {id} ({File.ReadAllText($"{process}/comm").Trim()})";
            }
        }

        return null;
    }

    private static bool Holds(string process, string socket)
    {
        try
        {
            return Directory.EnumerateFiles($"{process}/fd").Any(file => new FileInfo(file).LinkTarget == socket);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            // It is another user's, or has ended.
            return false;
        }
    }
}
