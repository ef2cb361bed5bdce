using System.CommandLine;
using System.CommandLine.Completions;
using System.Text;
using QuickSilver.Tool.Sessions;
using QuickSilver.Tool.Top;

namespace QuickSilver.Tool.Catalog;

// The names of a running cluster, with which a shell completes a command line: those of the cluster that the line itself names.
internal static class ClusterNames
{
    // A user waits at a prompt.
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(2);

    // A name with other characters is not offered: a shell could interpret them as commands.
    private const string Marks = "-._@:/+,=%";

    public static void CompleteWith(this Argument argument, CommonOptions common, Func<Session, Task<IEnumerable<string>>> names) =>
        argument.CompletionSources.Add(context => Complete(context, common, names));

    public static Option<T> CompleteWith<T>(
        this Option<T> option, CommonOptions common, Func<Session, Task<IEnumerable<string>>> names)
    {
        option.CompletionSources.Add(context => Complete(context, common, names));
        return option;
    }

    public static async Task<IEnumerable<string>> Topics(Session session) =>
        (await TopicCatalog.ReadAllAsync(session, isVerbose: false)).Select(static topic => topic.Name);

    public static async Task<IEnumerable<string>> Nodes(Session session)
    {
        await using var watch = await ClusterWatch.StartAsync(session, isVerbose: false, rows: 1);
        return (await watch.AskAsync(session.Interrupted)).Nodes.Select(static report => new NodeRow(report).Name);
    }

    public static async Task<IEnumerable<string>> NodesAndTopics(Session session) => [.. await Nodes(session), .. await Topics(session)];

    private static IEnumerable<CompletionItem> Complete(
        CompletionContext context, CommonOptions common, Func<Session, Task<IEnumerable<string>>> names)
    {
        IEnumerable<string> found = [];
        if (context.WordToComplete.StartsWith('-') || context.ParseResult.Tokens.Count == 0)
        {
            // An option, or no command line: help lists the values that an option may have, and asks for them so.
            return [];
        }

        try
        {
            var asking = Task.Run(() => Session.RunAsync(context.ParseResult, common, async session =>
            {
                found = await names(session);
                return ExitCode.Ok;
            }));
            if (!asking.Wait(Limit))
            {
                return [];
            }
        }
        catch (Exception)
        {
            // The line is not complete yet. There is nothing to complete it with, and no place for a report.
            return [];
        }

        return [.. found.Distinct().Where(IsPlain).Order(StringComparer.Ordinal).Select(static name => new CompletionItem(name))];
    }

    private static bool IsPlain(string name) =>
        name.EnumerateRunes().All(static rune => Rune.IsLetterOrDigit(rune) || (rune.IsAscii && Marks.Contains((char)rune.Value)));
}
