using System.CommandLine;
using System.Net;
using QuickSilver.Composition;
using QuickSilver.Tool.Etcd;
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
            DefaultPort,
            "The address to listen on. Port 0 selects a free port. Beyond the loopback interface, --security is required. With --etcd, "
            + "nodes and other servers must reach it.");
        var range = new Option<string?>("--multicast-range")
        {
            Description = "The range of multicast addresses for regions.",
            HelpName = "ADDRESS/PREFIX",
        };
        var ports = GroupPortsOption.Create();
        var state = new Option<string?>("--state")
        {
            Description = "A file that stores the service's last epoch, so that the epoch never goes back after a restart. It is locked: "
                + "only one service at a time has it.",
            HelpName = "FILE",
        };
        var etcd = new EtcdOption(
            "The members of an etcd cluster, with commas between. Several servers with the same etcd and cluster form one service: one "
            + "leads, and another one takes over when it is gone. Give nodes the addresses of all of them as --gms.");
        var heartbeat = new Option<double>("--heartbeat")
        {
            Description = "Seconds of silence that count as a missed heartbeat. Ten remove a node, or two or three if its neighbours "
                + "miss it too. Nodes send every second. Increase it where many nodes share a machine.",
            HelpName = "S",
            DefaultValueFactory = _ => 1,
        }.Within(1, 60);
        var rights = new Option<string?>("--rights")
        {
            Description = "A JSON file with rules of who may publish and subscribe to which topics. Requires --security. All servers "
                + "have the same.",
            HelpName = "FILE",
        };
        const string Purpose = "Run a standalone membership service. Writes 'listening HOST:PORT' to standard error.";
        var command = new Command("gms", Purpose) { listen, range, ports, state };
        etcd.AddTo(command);
        command.Add(heartbeat);
        command.Add(rights);
        common.AddToService(command);
        command.SetAction(parse => Session.RunAsync(parse, common, session =>
        {
            ReadRange(parse.GetValue(range), session.Options);
            GroupPortsOption.Read(parse.GetValue(ports), session.Options);
            session.Options.Membership.Hosted.RightsFile = parse.GetValue(rights);
            session.Options.Membership.Hosted.HeartbeatInterval = TimeSpan.FromSeconds(parse.GetValue(heartbeat));
            var at = parse.GetValue(listen)!;
            if (LoopbackRule.Refuses(session.Options.Security, at.Address))
            {
                throw new ToolException(ExitCode.Usage, Unprotected.Service(at));
            }

            return etcd.Read(parse) is { } members
                ? RunAsync(session, at, parse.GetValue(state), members)
                : RunAsync(session, at, parse.GetValue(state));
        }));
        return command;
    }

    private static async Task<int> RunAsync(Session session, IPEndPoint listen, string? stateFile)
    {
        await using var service = await StandaloneService.StartAsync(listen, session.Options, stateFile, session.Logs);
        return await UntilInterruptedAsync(
            session,
            service.LocalEndPoint,
            "leads alone: shares nothing with other servers. Start servers of one service with the same --etcd and --cluster.");
    }

    private static async Task<int> RunAsync(Session session, IPEndPoint listen, string? stateFile, EtcdAccess etcd)
    {
        if (stateFile is not null)
        {
            throw new ToolException(ExitCode.Usage, "--state: a service with --etcd keeps its state there. Give one of the two.");
        }

        if (listen.Address.Equals(IPAddress.Any) || listen.Address.Equals(IPAddress.IPv6Any))
        {
            throw new ToolException(
                ExitCode.Usage, $"--listen: with --etcd, other servers send nodes to this address, so {listen} is not enough. Name one.");
        }

        await using var service = await ReplicatedService.StartAsync(listen, session.Options, etcd, session.Logs);
        return await UntilInterruptedAsync(session, service.LocalEndPoint, note: null);
    }

    private static async Task<int> UntilInterruptedAsync(Session session, IPEndPoint listens, string? note)
    {
        Terminal.Note($"listening {listens}");
        if (note is not null)
        {
            Terminal.Note(note);
        }

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
            throw new ToolException(
                ExitCode.Usage, $"--multicast-range: '{text}' is not a range, such as 239.192.0.0/14 or ff15::5153:8000:0/98.");
        }

        options.Membership.Hosted.MulticastNetwork = network;
    }
}
