using QuickSilver.Core.Storage;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Lines;

// A file that a command is asked to write.
internal static class OutputFile
{
    /// <summary>Writing replaces files, and nothing else: a device or a pipe that is replaced is gone for all programs.</summary>
    /// <exception cref="ToolException">There is something else than a regular file.</exception>
    public static void Check(string path)
    {
        string? what = FileKinds.Of(path) switch
        {
            FileKind.Directory => "a folder",
            FileKind.Special => "a device, a pipe or a socket",
            _ => null,
        };
        if (what is not null)
        {
            string link = new FileInfo(path).LinkTarget is { } target ? $" a link to {target}," : "";
            throw new ToolException(ExitCode.Failed, $"{path} is{link} {what}, and not a file. Name a file, or one that is not there.");
        }
    }
}
