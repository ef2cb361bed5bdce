using System.Globalization;
using System.Net.Sockets;
using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Core.Transport.Descriptors;

// How many descriptors, which are files and sockets, the process may still open.
//
// Intuition: the runtime needs descriptors for threads, assemblies and files, and aborts the process where it gets none. So some stay in
// reserve, which connections of others never take. Application: a system gives a new descriptor the lowest number that is free. The number
// of a connection that was just accepted so shows whether a number below the reserve was left, whatever in the process has the others, and
// costs no call. In the first half of the reserve, a newcomer comes in and another one that has shown nothing yet gives way to it. In the
// second half, newcomers are closed at once. What goes wrong: those that gave way may need a moment to close, for which the second half of
// the reserve is there.
internal sealed class DescriptorRoom
{
    private const string LimitsFile = "/proc/self/limits";
    private const string LimitsRow = "Max open files";
    // A part of few descriptors, so that some connections are possible; of many, no more than a process needs at a time.
    private const int PartsInReserve = 5;
    private const int LeastReserve = 16;
    private const int MostReserve = 64;

    private readonly Func<DateTimeOffset> _utcNow;
    private readonly Func<int?>? _probe;
    private long _fewSince;
    private int _lastNumber = -1;

    /// <param name="limit">How many descriptors the process may have.</param>
    /// <param name="utcNow">The wall clock; from any thread.</param>
    /// <param name="probe">Finds the lowest number that is free, from any thread; null: only <see cref="OnOpened"/> reports it.</param>
    public DescriptorRoom(int limit, Func<DateTimeOffset> utcNow, Func<int?>? probe = null)
    {
        _utcNow = utcNow;
        _probe = probe;
        Limit = limit;
        Reserve = Math.Clamp(limit / PartsInReserve, LeastReserve, MostReserve);
    }

    public int Limit { get; }

    /// <summary>Of the limit, how many are for the process itself.</summary>
    public int Reserve { get; }

    /// <summary>No descriptor was left but those in reserve, when the last one was opened.</summary>
    public bool IsShort => Volatile.Read(ref _lastNumber) >= Limit - Reserve;

    /// <summary>The last one that was opened is of the half of the reserve that connections never take.</summary>
    public bool IsSpent => Volatile.Read(ref _lastNumber) >= Limit - (Reserve / 2);

    /// <summary>What is wrong while there are few, as the end of a sentence.</summary>
    public string Shortage => string.Create(
        CultureInfo.InvariantCulture, $"this process may open {Limit} files and sockets, and fewer than {Reserve} are left");

    /// <summary>The trouble of the node while few descriptors are left; null otherwise. From any thread.</summary>
    public Trouble? Trouble
    {
        get
        {
            if (_probe?.Invoke() is { } number)
            {
                OnOpened(number);
            }

            return !IsShort ? null : new Trouble(
                TroubleKind.DescriptorsFew,
                $"T{Shortage[1..]}. They are kept in reserve: a connection that has not shown who it is "
                + "gives way to a newer one.",
                new DateTimeOffset(Volatile.Read(ref _fewSince), TimeSpan.Zero),
                "descriptors to become free");
        }
    }

    /// <summary>The room of this process; null where the system shows no limit.</summary>
    public static DescriptorRoom? OfThisProcess() => ReadLimit() is { } limit
        ? new DescriptorRoom(limit, static () => DateTimeOffset.UtcNow, LowestFree)
        : null;

    /// <summary>How many descriptors this process may have; null: the system does not show it, or there is no limit.</summary>
    public static int? ReadLimit()
    {
        if (OperatingSystem.IsLinux())
        {
            try
            {
                return Parse(File.ReadLines(LimitsFile));
            }
            catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
            {
                // A container may hide it.
            }
        }

        return null;
    }

    /// <summary>From the lines in which Linux shows the limits of a process: the first number, which is the one in effect.</summary>
    public static int? Parse(IEnumerable<string> limits) =>
        limits.FirstOrDefault(static line => line.StartsWith(LimitsRow, StringComparison.Ordinal)) is { } row
        && row[LimitsRow.Length..].Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries) is [var inEffect, ..]
        && int.TryParse(inEffect, NumberStyles.None, CultureInfo.InvariantCulture, out int limit)
            ? limit
            : null;

    /// <summary>
    /// Why the system refused a socket. Its own words for the limit of a process are those for the limit of the system in some versions of
    /// the runtime, and have no number.
    /// </summary>
    /// <param name="refusal">What the system said.</param>
    /// <param name="descriptors">The room of the process; null where the system shows no limit.</param>
    public static string InWords(SocketException refusal, DescriptorRoom? descriptors) =>
        refusal.SocketErrorCode == SocketError.TooManyOpenSockets && descriptors is { Limit: var limit }
            ? string.Create(CultureInfo.InvariantCulture, $"this process has open all {limit} files and sockets that it may (ulimit -n)")
            : refusal.Message;

    /// <summary>A descriptor was opened, and the system gave it this number.</summary>
    public void OnOpened(int number)
    {
        bool wasShort = IsShort;
        Volatile.Write(ref _lastNumber, number);
        if (!wasShort && IsShort)
        {
            Volatile.Write(ref _fewSince, _utcNow().UtcTicks);
        }
    }

    // Null: there is none at all, or the system refuses for another reason.
    private static int? LowestFree()
    {
        if (!OperatingSystem.IsLinux())
        {
            return null;
        }

        using var probe = LinuxCalls.eventfd(0, LinuxCalls.CloseOnExec);
        return probe.IsInvalid ? null : (int)probe.DangerousGetHandle();
    }
}
