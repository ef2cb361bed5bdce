using System.CommandLine;
using System.Net;
using QuickSilver.Tool.Dashboard;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands;

// What top shows, in browsers: a web server with one page.
internal static class DashboardCommand
{
    private const int DefaultPort = 7480;

    // At a point a second.
    private const int MostPoints = 600;

    private static readonly TimeSpan HistoryAge = TimeSpan.FromMinutes(10);

    public static Command Create()
    {
        var common = new CommonOptions();
        var listen = ListenAddress.Create(
            DefaultPort,
            "The address of the web page. Port 0 selects a free port. Beyond the loopback interface, a token is needed to look.");
        var tokenFile = new Option<string?>("--token-file")
        {
            Description = $"A file whose first line is the token, of {DashboardAccess.LeastTokenCharacters} characters or more. By "
                + $"default, it is taken from the environment variable {DashboardAccess.TokenVariable}; if there is none and one is "
                + "needed, it is drawn and printed as part of the link.",
            HelpName = "FILE",
        };
        var hosts = new Option<string[]>("--host")
        {
            Description = "A name under which browsers reach the page, such as that of a proxy. Addresses, localhost and, beyond the "
                + "loopback interface, the name of this machine are accepted anyway. Can be repeated.",
            HelpName = "NAME",
        };
        const string Purpose =
            "Show the vital signs of a cluster on a web page. Writes 'listening URL' to standard error. Ends with Ctrl-C.";
        var command = common.AddToObserver(new Command("dashboard", Purpose) { listen, tokenFile, hosts });
        command.SetAction(parse => Session.RunAsync(parse, common, session =>
        {
            var address = parse.GetValue(listen)!;
            string? chosen = ReadToken(parse.GetValue(tokenFile));
            bool isDrawn = chosen is null && !IPAddress.IsLoopback(address.Address);
            string? token = isDrawn ? DashboardAccess.DrawToken() : chosen;
            IEnumerable<string> names = parse.GetValue(hosts) ?? [];
            var access = new DashboardAccess(
                address.Address, token, IPAddress.IsLoopback(address.Address) ? names : names.Append(Dns.GetHostName()));
            return RunAsync(session, address, access, isDrawn ? token : null);
        }));
        return command;
    }

    private static async Task<int> RunAsync(Session session, IPEndPoint listen, DashboardAccess access, string? shownToken)
    {
        var broadcast = new SignsBroadcast(DashboardServer.MostBrowsers);
        var gathering = new SignsGathering(
            stop => ClusterSource.OpenAsync(session, session.IsVerbose, stop),
            GatheringPace.Default,
            broadcast,
            new History(MostPoints, HistoryAge),
            reason => Terminal.Note($"{reason} Trying again."));
        using var topics = TopicPages.Of(session);
        await using var server = await DashboardServer.StartAsync(listen, access, gathering, broadcast, topics);
        var at = server.EndPoint;
        string host = at.Address.Equals(IPAddress.Any) || at.Address.Equals(IPAddress.IPv6Any)
            ? $"{Dns.GetHostName()}:{at.Port}"
            : at.ToString();
        Terminal.Note($"listening http://{host}/{(shownToken is null ? "" : $"?token={shownToken}")}");
        if (access.NeedsToken && shownToken is null)
        {
            Terminal.Note("The page asks for the token that you chose.");
        }

        try
        {
            await gathering.RunAsync(session.Interrupted);
        }
        catch (OperationCanceledException) when (session.Interrupted.IsCancellationRequested)
        {
            // A signal is the proper end of watching.
        }

        return ExitCode.Ok;
    }

    // Null: the user has chosen none.
    private static string? ReadToken(string? file)
    {
        string? token;
        string from;
        if (file is null)
        {
            from = $"environment variable {DashboardAccess.TokenVariable}";
            token = Environment.GetEnvironmentVariable(DashboardAccess.TokenVariable);
            if (string.IsNullOrEmpty(token))
            {
                return null;
            }
        }
        else
        {
            from = $"--token-file: {file}";
            try
            {
                token = File.ReadLines(file).FirstOrDefault("").Trim();
            }
            catch (Exception exception) when (exception is IOException or UnauthorizedAccessException or ArgumentException)
            {
                throw new ToolException(ExitCode.Usage, $"{from} cannot be read: {exception.Message}", exception);
            }
        }

        return DashboardAccess.Fault(token) is { } fault
            ? throw new ToolException(ExitCode.Usage, $"{from} is no token: {fault}.")
            : token;
    }
}
