using QuickSilver.Tool.Lines;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Keys;

// Files that only their user reads, and that are not replaced by accident.
internal static class KeyFile
{
    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    public static void Write(string path, string text, bool force)
    {
        // A new file in its place: what is there may be open to others, or a link to another file.
        string partial = path + ".new";
        try
        {
            CheckAbsent(path, force);
            File.Delete(partial);
            var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
            if (!OperatingSystem.IsWindows())
            {
                options.UnixCreateMode = OwnerOnly;
            }

            using (var writer = new StreamWriter(partial, options))
            {
                writer.Write(text);
            }

            File.Move(partial, path, overwrite: force);
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            throw new ToolException(ExitCode.Failed, $"{path} cannot be written: {exception.Message}", exception);
        }
    }

    /// <exception cref="ToolException">What is there is no file, or exists and is not to be replaced.</exception>
    public static void CheckAbsent(string path, bool force)
    {
        OutputFile.Check(path);
        if (!force && File.Exists(path))
        {
            throw new ToolException(ExitCode.Failed, $"{path} exists. Replace it with --force; what it protects is lost then.");
        }
    }

    public static int Run(Func<int> body)
    {
        try
        {
            return body();
        }
        catch (ToolException exception)
        {
            Terminal.Error(exception.Message);
            return exception.ExitCode;
        }
    }
}
