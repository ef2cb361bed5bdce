using Microsoft.Win32.SafeHandles;

namespace QuickSilver.Tool.Lines;

internal static class StandardOutput
{
    private const int Descriptor = 1;

    // The console's stream swallows the error of a pipe without a reader, and "qsm sub … | head -1" would never
    // end; a file stream throws. On a seekable file it would keep a position of its own, so there the console's is right.
    public static Stream Open()
    {
        if (!OperatingSystem.IsWindows())
        {
            var stream = new FileStream(new SafeFileHandle(Descriptor, ownsHandle: false), FileAccess.Write, bufferSize: 0);
            if (!stream.CanSeek)
            {
                return stream;
            }
        }

        return Console.OpenStandardOutput();
    }
}
