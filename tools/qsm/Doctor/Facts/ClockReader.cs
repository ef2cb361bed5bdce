using System.Buffers.Binary;
using System.Runtime.InteropServices;
using QuickSilver.Tool.Doctor.Checks;

namespace QuickSilver.Tool.Doctor.Facts;

// What Linux knows of its own clock: adjtimex with nothing to adjust, which needs no privilege.
internal static partial class ClockReader
{
    // struct timex where a long has 64 bits.
    private const int Bytes = 208;
    private const int MaxErrorOffset = 24;
    private const int StatusOffset = 40;
    private const int Unsynchronized = 0x40;
    private const int TimeError = 5;

    public static ClockFacts Read()
    {
        var now = DateTimeOffset.UtcNow;
        if (!OperatingSystem.IsLinux() || nint.Size != sizeof(long))
        {
            return new ClockFacts(now, null, default);
        }

        Span<byte> timex = stackalloc byte[Bytes];
        timex.Clear();
        int state = AdjustTime(timex);
        if (state < 0)
        {
            return new ClockFacts(now, null, default);
        }

        int status = BinaryPrimitives.ReadInt32LittleEndian(timex[StatusOffset..]);
        long error = BinaryPrimitives.ReadInt64LittleEndian(timex[MaxErrorOffset..]);
        return new ClockFacts(now, state != TimeError && (status & Unsynchronized) == 0, TimeSpan.FromMicroseconds(error));
    }

    [LibraryImport("libc", EntryPoint = "adjtimex")]
    private static partial int AdjustTime(Span<byte> timex);
}
