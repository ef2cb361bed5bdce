namespace QuickSilver.Tool.Commands.Options;

// What users type who do not know the command line yet: nothing, or "help".
internal static class HelpRequest
{
    private const string Word = "help";
    private const string Option = "--help";

    /// <summary>
    /// The arguments as the parser takes them: without any, and as "help [COMMAND]…", they ask for the help of the command.
    /// </summary>
    public static string[] Of(string[] arguments) => arguments switch
    {
        [] => [Option],
        [Word, .. var command] => [.. command, Option],
        _ => arguments,
    };
}
