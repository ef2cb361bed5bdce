using System.Text;

namespace QuickSilver.Tool.Lines;

// The reader of the output may have enough of it ("qsm topics | head -1"): then a command ends at once, quietly and with success.
internal static class ClosedPipe
{
    // EPIPE of Unix; ERROR_BROKEN_PIPE and ERROR_NO_DATA of Windows.
    private static readonly int[] Codes = [32, unchecked((int)0x8007006D), unchecked((int)0x800700E8)];

    /// <summary>Makes the console's writer say so when the output has no reader any more. By default it writes on, into nothing.</summary>
    public static void Watch()
    {
        if (Console.IsOutputRedirected)
        {
            Console.SetOut(new StreamWriter(StandardOutput.Open(), new UTF8Encoding(false)) { AutoFlush = true });
        }
    }

    public static bool IsCauseOf(Exception exception) =>
        exception is IOException && Codes.Contains(exception.HResult)
        || exception is AggregateException all && all.InnerExceptions.Any(IsCauseOf);
}
