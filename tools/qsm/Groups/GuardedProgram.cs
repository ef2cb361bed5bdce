using System.ComponentModel;
using System.Diagnostics;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Groups;

// A program that another one asked to run, as a shell would find it: what has no slash is looked up in PATH alone, and not in the current
// directory.
internal sealed class GuardedProgram
{
    private const int NoSuchFile = 2;

    private readonly string _name;
    private readonly string _path;
    private readonly string[] _arguments;

    private GuardedProgram(string name, string path, string[] arguments)
    {
        _name = name;
        _path = path;
        _arguments = arguments;
    }

    /// <exception cref="ToolException">There is none, or it cannot be run.</exception>
    public static GuardedProgram Find(string[] command)
    {
        string name = command[0];
        if (OperatingSystem.IsWindows())
        {
            return new GuardedProgram(name, name, command[1..]);
        }

        string? path = name.Contains('/', StringComparison.Ordinal) ? Path.GetFullPath(name) : InPath(name);
        if (!Path.Exists(path))
        {
            throw NotFound(name);
        }

        return IsExecutable(path) ? new GuardedProgram(name, path, command[1..]) : throw NotExecutable(name);
    }

    /// <summary>Starts it with the standard streams of this process.</summary>
    /// <exception cref="ToolException">It cannot be started.</exception>
    public Process Start(IEnumerable<(string Name, string Value)> variables)
    {
        var start = new ProcessStartInfo(_path, _arguments) { UseShellExecute = false };
        foreach (var (name, value) in variables)
        {
            start.Environment[name] = value;
        }

        try
        {
            return Process.Start(start)!;
        }
        catch (Win32Exception exception) when (exception.NativeErrorCode == NoSuchFile)
        {
            throw NotFound(_name);
        }
        catch (Win32Exception exception)
        {
            throw NotExecutable(_name, exception);
        }
    }

    private static string? InPath(string name) => (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':')
        .Select(folder => Path.GetFullPath(Path.Combine(folder.Length > 0 ? folder : ".", name)))
        .FirstOrDefault(IsExecutable);

    private static bool IsExecutable(string path) => !OperatingSystem.IsWindows() && File.Exists(path)
        && (File.GetUnixFileMode(path) & (UnixFileMode.UserExecute | UnixFileMode.GroupExecute | UnixFileMode.OtherExecute)) != 0;

    private static ToolException NotExecutable(string name, Exception? cause = null) => new(
        ExitCode.NotExecutable, $"{name} cannot be started: {cause?.Message ?? "it is not an executable file"}.", cause);

    private static ToolException NotFound(string name) => new(ExitCode.NotFound, $"{name}: there is no such command.");
}
