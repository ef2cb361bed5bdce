using System.CommandLine;
using System.CommandLine.Parsing;
using System.Net;
using System.Net.Sockets;
using QuickSilver.Composition;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Tool.Doctor;
using QuickSilver.Tool.Doctor.Checks;
using QuickSilver.Tool.Doctor.Facts.Probes;
using QuickSilver.Tool.Etcd;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands;

// What keeps a node of this host from working, or from working well, and what fixes it.
internal static class DoctorCommand
{
    public static Command Create()
    {
        var common = new CommonOptions();
        var peers = new Option<IPAddress[]>("--peer")
        {
            Description = "The address of a host that runs 'qsm doctor --listen', to test multicast both ways. Repeat it for several.",
            HelpName = "ADDRESS",
            CustomParser = ParsePeers,
            DefaultValueFactory = static _ => [],
        };
        var listen = new Option<bool>("--listen")
        {
            Description = "Check nothing, but answer the multicast probes of 'qsm doctor' on other hosts, until Ctrl-C.",
        };
        var receive = new Option<int?>("--receive-buffer")
        {
            Description = "The receive buffer that the node asks for (Limits:ReceiveBufferBytes). The default is 8 MiB.",
            HelpName = "BYTES",
        }.Within(64 << 10, 1 << 30);
        var memory = new Option<long?>("--buffer-bytes")
        {
            Description = "The packet memory of the node (Limits:BufferBytes). The default is 256 MiB.",
            HelpName = "BYTES",
        }.Within(32L << 20, 16L << 30);
        var received = new Option<long?>("--received-message-bytes")
        {
            Description = "What received messages may use of the heap (Limits:ReceivedMessageBytes). The default is 736 MiB.",
            HelpName = "BYTES",
        }.Within(ReceivedShares.LeastBytes, 16L << 30);
        var storage = new Option<string?>("--storage")
        {
            Description = "The directory for what the node keeps on disk (StorageDirectory). A small file is written there and deleted.",
            HelpName = "DIRECTORY",
        };
        var ports = GroupPortsOption.Create();
        var etcd = new EtcdOption("The members of the etcd cluster that the servers share, with commas between, to check them.");
        var json = new Option<bool>("--json") { Description = "Write one JSON object." };
        const string Purpose = "Check this host, its network and the membership service, and name the command that fixes what is wrong. "
            + "Exits with 1 if there is a problem.";
        var command = new Command("doctor", Purpose) { peers, listen, receive, memory, received, storage, ports };
        etcd.AddTo(command);
        command.Add(json);
        common.AddToDoctor(command);
        Bounds.Exclude(command, listen, peers);
        Bounds.Exclude(command, listen, json);
        Bounds.Exclude(command, listen, etcd.Members);
        command.SetAction(parse => Session.RunAsync(parse, common, session =>
        {
            GroupPortsOption.Read(parse.GetValue(ports), session.Options);
            session.Options.Limits.ReceiveBufferBytes = parse.GetValue(receive) ?? session.Options.Limits.ReceiveBufferBytes;
            session.Options.Limits.BufferBytes = parse.GetValue(memory) ?? session.Options.Limits.BufferBytes;
            session.Options.Limits.ReceivedMessageBytes = parse.GetValue(received) ?? session.Options.Limits.ReceivedMessageBytes;
            session.Options.StorageDirectory = parse.GetValue(storage);
            return parse.GetValue(listen)
                ? ListenAsync(session)
                : CheckAsync(session, parse.GetValue(peers) ?? [], etcd.Read(parse), parse.GetValue(json));
        }));
        return command;
    }

    private static async Task<int> CheckAsync(Session session, IReadOnlyList<IPAddress> peers, EtcdAccess? etcd, bool json)
    {
        try
        {
            OptionRules.Check(session.Options);
        }
        catch (QuickSilverOptionsException exception)
        {
            throw ToolException.OnStart(exception);
        }

        var findings = await Examination.RunAsync(session, peers, etcd);
        if (json)
        {
            Console.Out.WriteLine(DoctorReport.Of(session.Options.Cluster, findings).ToJson());
        }
        else
        {
            DoctorText.Write(findings);
        }

        return DoctorReport.Worst(findings) == FindingStatus.Problem ? ExitCode.Failed : ExitCode.Ok;
    }

    private static async Task<int> ListenAsync(Session session)
    {
        var options = session.Options;
        MulticastListener listener;
        IPAddress local;
        try
        {
            local = NodeComposition.Choose(options.Interface, services: []).Address;
            listener = new MulticastListener(local, options.Cluster, options.MulticastTimeToLive, static (from, isGroup) =>
                Terminal.Note($"heard {from} over {(isGroup ? "multicast" : "unicast")}"));
        }
        catch (QuickSilverOptionsException exception)
        {
            throw ToolException.OnStart(exception);
        }
        catch (SocketException exception)
        {
            throw new ToolException(ExitCode.Failed, $"Cannot listen for doctors' multicast: {exception.Message}.", exception);
        }

        using (listener)
        {
            Terminal.Note($"listening {DoctorSockets.GroupOf(local)} on {local}");
            try
            {
                await listener.RunAsync(session.Interrupted);
            }
            catch (OperationCanceledException) when (session.Interrupted.IsCancellationRequested)
            {
                // A signal is the proper end of listening.
            }
        }

        return ExitCode.Ok;
    }

    private static IPAddress[] ParsePeers(ArgumentResult result)
    {
        var peers = new List<IPAddress>();
        foreach (var token in result.Tokens)
        {
            if (IPAddress.TryParse(token.Value, out var address))
            {
                peers.Add(address);
            }
            else
            {
                result.AddError($"--peer: '{token.Value}' is not an address.");
            }
        }

        return [.. peers];
    }
}
