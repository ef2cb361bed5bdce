using System.Diagnostics;

namespace QuickSilver.Processes.Tests.Lab.Machine;

// The `ip` of iproute2, one call at a time; what it says on its error stream becomes the exception's text.
internal static class IpCommand
{
    public static bool IsInstalled => Path is not null;

    private static string? Path { get; } =
        new[] { "/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip" }.FirstOrDefault(File.Exists);

    public static string FullPath => Path ?? throw new InvalidOperationException("iproute2 is not installed");

    public static string Run(params string[] arguments) => RunWithInput("", arguments);

    public static string RunWithInput(string input, params string[] arguments)
    {
        var (code, output, errors) = LimitedProcess.Run(new ProcessStartInfo(FullPath, arguments), input);
        return code == 0
            ? output
            : throw new IpCommandException($"ip {string.Join(' ', arguments)} ended with {code}: {errors.Trim()}");
    }
}

internal sealed class IpCommandException(string message) : Exception(message);
