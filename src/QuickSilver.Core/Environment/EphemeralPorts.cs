using System.Globalization;

namespace QuickSilver.Core.Environment;

// The ports that a system gives to sockets which ask for any. A program that binds one of these because of its number may find it taken, by
// any program at any moment; the system never gives away reserved ones.
internal sealed class EphemeralPorts
{
    // What the registry of port numbers sets aside, and what other systems than Linux use by default.
    private const int RegisteredFirst = 49_152;
    private const int RegisteredLast = 65_535;
    private const string RangeFile = "/proc/sys/net/ipv4/ip_local_port_range";
    private const string ReservedFile = "/proc/sys/net/ipv4/ip_local_reserved_ports";

    private readonly List<(int First, int Last)> _reserved;

    private EphemeralPorts(int first, int last, List<(int First, int Last)> reserved)
    {
        First = first;
        Last = last;
        _reserved = reserved;
    }

    public int First { get; }

    public int Last { get; }

    /// <summary>As this system has them now.</summary>
    public static EphemeralPorts Read()
    {
        if (OperatingSystem.IsLinux())
        {
            try
            {
                return Parse(File.ReadAllText(RangeFile), File.ReadAllText(ReservedFile));
            }
            catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
            {
                // A container may hide them.
            }
        }

        return new EphemeralPorts(RegisteredFirst, RegisteredLast, []);
    }

    /// <summary>From what Linux says: "32768 60999", and "8080,9000-9010" or nothing.</summary>
    public static EphemeralPorts Parse(string range, string reserved)
    {
        string[] ends = range.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries);
        return ends is [var first, var last] && TryPort(first, out int from) && TryPort(last, out int to)
            ? new EphemeralPorts(from, to, ParseReserved(reserved))
            : new EphemeralPorts(RegisteredFirst, RegisteredLast, []);
    }

    public bool Contains(int port)
    {
        if (port < First || port > Last)
        {
            return false;
        }

        foreach (var (first, last) in _reserved)
        {
            if (port >= first && port <= last)
            {
                return false;
            }
        }

        return true;
    }

    public override string ToString() => $"{First}-{Last}";

    private static List<(int First, int Last)> ParseReserved(string text)
    {
        var all = new List<(int First, int Last)>();
        foreach (string part in text.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries))
        {
            int dash = part.IndexOf('-', StringComparison.Ordinal);
            if (TryPort(dash < 0 ? part : part[..dash], out int first) && TryPort(part[(dash + 1)..], out int last))
            {
                all.Add((first, last));
            }
        }

        return all;
    }

    private static bool TryPort(string text, out int port) => int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out port);
}
