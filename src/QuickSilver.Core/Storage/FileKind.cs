using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace QuickSilver.Core.Storage;

// What is at a path, for code that is about to write there.
internal enum FileKind
{
    None = 0,
    Regular,
    Directory,

    // A device, a pipe or a socket: what is written there is not kept, or belongs to another program.
    Special,
}

internal static unsafe partial class FileKinds
{
    private const int CurrentDirectory = -100;
    private const uint AskType = 1;
    private const int AnswerBytes = 256;
    private const int ModeOffset = 28;
    private const int TypeMask = 0xF000;
    private const int RegularType = 0x8000;
    private const int DirectoryType = 0x4000;

    /// <summary>What is at the path. Links are followed; one that leads nowhere is none.</summary>
    public static FileKind Of(string path)
    {
        if (Directory.Exists(path))
        {
            return FileKind.Directory;
        }

        return !File.Exists(path) ? FileKind.None : OperatingSystem.IsLinux() ? OfLinux(path) : FileKind.Regular;
    }

    [SupportedOSPlatform("linux")]
    private static FileKind OfLinux(string path)
    {
        byte* answer = stackalloc byte[AnswerBytes];
        try
        {
            if (statx(CurrentDirectory, path, 0, AskType, answer) != 0)
            {
                return FileKind.None;
            }
        }
        catch (EntryPointNotFoundException)
        {
            // An old C library.
            return FileKind.Regular;
        }

        return (*(ushort*)(answer + ModeOffset) & TypeMask) switch
        {
            RegularType => FileKind.Regular,
            DirectoryType => FileKind.Directory,
            _ => FileKind.Special,
        };
    }

    // The same on all processors, unlike the older calls.
    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int statx(int directory, string path, int flags, uint mask, byte* answer);
}
