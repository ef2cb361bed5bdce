using System.Net.Sockets;
using QuickSilver.Core.Transport;

namespace QuickSilver.Tool.Sessions;

// A failure that already knows its exit code; its message is all that the user is shown.
internal sealed class ToolException(int exitCode, string message, Exception? inner = null) : Exception(message, inner)
{
    public int ExitCode { get; } = exitCode;

    private const string Security = nameof(QuickSilverOptions.Security);

    // For users who measure on the topics of their programs.
    private const string BytesAlone = " This command opens topics as reliable and with bytes. Give it a topic that no program has open.";

    // A node that cannot start was given a wrong option, cannot reach its service, or failed otherwise.
    public static ToolException OnStart(Exception exception) => exception switch
    {
        QuickSilverOptionsException { Unprotected: { } choice } => new(Tool.ExitCode.Usage, Unprotected.Interface(choice), exception),
        ArgumentException or QuickSilverOptionsException => new(Tool.ExitCode.Usage, InOptionsOfTool(exception.Message), exception),
        MembershipUnreachableException or TimeoutException or SocketException =>
            new(Tool.ExitCode.Unreachable, exception.Message, exception),
        _ => new(Tool.ExitCode.Failed, exception.Message, exception),
    };

    /// <summary>As <see cref="OnStart"/>, of a service that listens where --listen says.</summary>
    public static ToolException OnListen(Exception exception) => exception is TransportException
        ? new(Tool.ExitCode.Failed, $"--listen: {exception.Message}", exception)
        : OnStart(exception);

    // A topic that cannot be opened has a wrong name or another contract; a service that vanished in between is unreachable.
    public static ToolException OnOpen(string topic, Exception exception, bool carriesBytes) => exception switch
    {
        TopicAccessDeniedException => new(Tool.ExitCode.Failed, $"{topic}: {exception.Message}", exception),
        ContractMismatchException =>
            new(Tool.ExitCode.Failed, $"{topic}: {exception.Message}{(carriesBytes ? BytesAlone : "")}", exception),
        _ => new(OnStart(exception).ExitCode, $"{topic}: {exception.Message}", exception),
    };

    // The library names its own options, which who uses the tool has not given.
    private static string InOptionsOfTool(string message) => message
        .Replace($"The option {Security}:{nameof(SecurityOptions.SecretFile)} ", "The option --security ", StringComparison.Ordinal)
        .Replace($"The option {Security}:{nameof(SecurityOptions.CertificateFile)} ", "The option --security ", StringComparison.Ordinal)
        .Replace($"The option {Security}:{nameof(SecurityOptions.AuthorityFile)} ", "The option --authority ", StringComparison.Ordinal);
}
