using System.CommandLine;
using System.CommandLine.Parsing;

namespace QuickSilver.Tool.Commands.Options;

// The options that every command with a node understands, and what they mean for it.
internal sealed class CommonOptions
{
    private readonly Option<string?> _gms = new("--gms")
    {
        Description = "The address of the membership service, an IPv6 one as [ADDRESS]:PORT, or those of its servers with commas "
            + "between. By default, one is discovered on the network; a node that finds none hosts one.",
        HelpName = "HOST:PORT",
    };

    private readonly Option<NodeInterface> _interface = new("--interface")
    {
        Description = "The network interface: its IPv4 or IPv6 address, its name (eth0), a subnet with one address of this machine "
            + "(10.0.0.0/8), or auto.",
        HelpName = "INTERFACE",
        CustomParser = ParseInterface,
        DefaultValueFactory = _ => NodeInterface.Loopback,
    };

    private readonly Option<string> _cluster = new("--cluster")
    {
        Description = "The name of the cluster. Nodes of different clusters ignore each other.",
        HelpName = "NAME",
        DefaultValueFactory = _ => "default",
    };

    private readonly SecurityOption _security = new();

    private readonly Option<bool> _unicast = new("--unicast")
    {
        Description = "Always send a unicast copy to each member, not only to members that multicast does not reach.",
    };

    private readonly Option<bool> _noOffload = new("--no-offload")
    {
        Description = "Send single datagrams, even if the system supports segmentation offload.",
    };

    private readonly Option<int?> _packetBytes = new Option<int?>("--packet-bytes")
    {
        Description = "The maximum size of a datagram in bytes, header included.",
        HelpName = "BYTES",
    }.Within(OptionRules.LeastPacketBytes, OptionRules.MostPacketBytes);

    private readonly Option<int> _timeToLive = new Option<int>("--ttl")
    {
        Description = "The time to live of multicast packets: the maximum number of routers plus one; 0 stays on this machine.",
        HelpName = "HOPS",
        DefaultValueFactory = _ => 1,
    }.Within(0, 255);

    private readonly Option<bool> _spin = new("--spin")
    {
        Description = "Poll instead of sleeping. This gives the shortest round trips but uses a whole processor.",
    };

    private readonly Option<bool> _verbose = new("--verbose", "-v")
    {
        Description = "Write all log messages to standard error, not only warnings.",
    };

    // What is wrong is to be found, and does not end the command.
    private bool _isExamination;

    public Command AddTo(Command command)
    {
        command.Add(_gms);
        command.Add(_interface);
        command.Add(_cluster);
        _security.AddTo(command);
        command.Add(_unicast);
        command.Add(_noOffload);
        command.Add(_packetBytes);
        command.Add(_timeToLive);
        command.Add(_spin);
        command.Add(_verbose);
        return command;
    }

    // The service itself sends no data: only its cluster's name and how much it says are its to choose.
    public Command AddToService(Command command)
    {
        command.Add(_cluster);
        _security.AddTo(command);
        command.Add(_verbose);
        return command;
    }

    // Of a command that chooses the rest itself.
    public Command AddVerbose(Command command)
    {
        command.Add(_verbose);
        return command;
    }

    // An observer sends no data either, but looks for the service as a node does.
    public Command AddToObserver(Command command)
    {
        command.Add(_gms);
        command.Add(_interface);
        return AddToService(command);
    }

    // What a node on this host would do is checked, but nothing is sent but probes.
    public Command AddToDoctor(Command command)
    {
        _isExamination = true;
        command.Add(_gms);
        command.Add(_interface);
        command.Add(_cluster);
        _security.AddTo(command);
        command.Add(_unicast);
        command.Add(_packetBytes);
        command.Add(_timeToLive);
        return AddVerbose(command);
    }

    public bool IsVerbose(ParseResult parse) => parse.GetValue(_verbose);

    public QuickSilverOptions Read(ParseResult parse)
    {
        var options = new QuickSilverOptions
        {
            Membership = { Servers = [.. parse.GetValue(_gms)?.Split(',') ?? []] },
            Cluster = parse.GetValue(_cluster)!,
            Interface = parse.GetValue(_interface) ?? NodeInterface.Loopback,
            Dissemination = parse.GetValue(_unicast) ? Dissemination.Unicast : Dissemination.Auto,
            SegmentationOffload = !parse.GetValue(_noOffload),
            BusyPoll = parse.GetValue(_spin),
            MulticastTimeToLive = parse.GetValue(_timeToLive),
            Security = _security.Read(parse, _isExamination),
            // A node that a command starts is seen as such by all members.
            Application = string.Join('-', Commands(parse.CommandResult)),
        };
        if (parse.GetValue(_packetBytes) is int packetBytes)
        {
            options.PacketBytes = packetBytes;
        }

        return options;
    }

    // The names of a command and those above it, such as "qsm", "perf" and "echo".
    private static IEnumerable<string> Commands(CommandResult? command) => command is null
        ? []
        : Commands(command.Parent as CommandResult).Append(command.Parent is null ? "qsm" : command.Command.Name);

    private static NodeInterface ParseInterface(ArgumentResult result)
    {
        if (NodeInterface.Read(result.Tokens[^1].Value, out string? fault) is { } one)
        {
            return one;
        }

        result.AddError($"--interface: {fault}");
        return NodeInterface.Loopback;
    }
}
