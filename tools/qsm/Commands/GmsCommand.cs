using System.CommandLine;
using System.Net;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands;

// The membership service alone, in a process of its own.
internal static class GmsCommand
{
    private const int DefaultPort = 7400;

    public static Command Create()
    {
        var common = new CommonOptions();
        var listen = ListenAddress.Create(
            DefaultPort, "The address to listen on. Port 0 selects a free port. Warning: anyone who can reach it can join.");
        var range = new Option<string?>("--multicast-range")
        {
            Description = "The range of multicast addresses for regions.",
            HelpName = "ADDRESS/PREFIX",
        };
        var ports = GroupPortsOption.Create();
        var state = new Option<string?>("--state")
        {
            Description = "A file that stores the service's last epoch, so that the epoch never goes back after a restart.",
            HelpName = "FILE",
        };
        var heartbeat = new Option<double>("--heartbeat")
        {
            Description = "Seconds of silence that count as a missed heartbeat. Ten remove a node, or two or three if its neighbours "
                + "miss it too. Nodes send every second. Increase it where many nodes share a machine.",
            HelpName = "S",
            DefaultValueFactory = _ => 1,
        }.Within(1, 60);
        const string Purpose = "Run a standalone membership service. Writes 'listening HOST:PORT' to standard error.";
        var command = common.AddToService(new Command("gms", Purpose) { listen, range, ports, state, heartbeat });
        command.SetAction(parse => Session.RunAsync(parse, common, session =>
        {
            ReadRange(parse.GetValue(range), session.Options);
            GroupPortsOption.Read(parse.GetValue(ports), session.Options);
            session.Options.Service.HeartbeatInterval = TimeSpan.FromSeconds(parse.GetValue(heartbeat));
            return RunAsync(session, parse.GetValue(listen)!, parse.GetValue(state));
        }));
        return command;
    }

    private static async Task<int> RunAsync(Session session, IPEndPoint listen, string? stateFile)
    {
        await using var service = await StandaloneService.StartAsync(listen, session.Options, stateFile, session.Logs);
        Terminal.Note($"listening {service.LocalEndPoint}");
        try
        {
            await Task.Delay(Timeout.Infinite, session.Interrupted);
        }
        catch (OperationCanceledException) when (session.Interrupted.IsCancellationRequested)
        {
            // A service ends by a signal; that is its proper end.
        }

        return ExitCode.Ok;
    }

    private static void ReadRange(string? text, QuickSilverOptions options)
    {
        if (text is null)
        {
            return;
        }

        if (!IPNetwork.TryParse(text, out IPNetwork network))
        {
            throw new ToolException(ExitCode.Usage, $"--multicast-range: '{text}' is not a range, such as 239.192.0.0/14.");
        }

        options.Service.MulticastNetwork = network;
    }
}
