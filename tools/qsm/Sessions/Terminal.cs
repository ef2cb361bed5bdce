using QuickSilver.Core.Security.Identities;
using QuickSilver.Tool.Catalog;
using Spectre.Console;

namespace QuickSilver.Tool.Sessions;

// What people read. Standard output belongs to payloads and results, standard error to remarks. Where a stream is
// redirected the text is plain and never wrapped, so that scripts can match whole lines.
internal static class Terminal
{
    public static void Note(string text) => Console.Error.WriteLine(SafeText.OfLines(Secret.Hide(text)));

    public static void Error(string text)
    {
        // Others may read what a service or a script writes.
        text = SafeText.OfLines(Secret.Hide(text));
        if (Console.IsErrorRedirected)
        {
            Console.Error.WriteLine($"qsm: {text}");
            return;
        }

        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(Console.Error) });
        console.MarkupLineInterpolated($"[red]qsm:[/] {text}");
    }

    public static void Table(IEnumerable<(string Name, string Value)> rows)
    {
        if (Console.IsOutputRedirected)
        {
            foreach ((string name, string value) in rows)
            {
                Console.Out.WriteLine($"{name,-24} {value}");
            }

            return;
        }

        var table = new Table().Border(TableBorder.Rounded).HideHeaders().AddColumn("").AddColumn(new TableColumn("").RightAligned());
        foreach ((string name, string value) in rows)
        {
            table.AddRow(Markup.Escape(name), Markup.Escape(value));
        }

        AnsiConsole.Write(table);
    }
}
