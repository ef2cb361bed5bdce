namespace QuickSilver.Processes.Tests.Campaigns.Servers;

// What is done to the servers, and how much.
internal sealed record ServersPlan
{
    public int Kills { get; init; } = 20;
    public int EtcdKills { get; init; } = 10;
    public int Stops { get; init; } = 1;
    public TimeSpan Stop { get; init; } = TimeSpan.FromSeconds(20);
    // Of each server and each member of etcd, in turn.
    public int Isolations { get; init; } = 1;
    public TimeSpan Isolation { get; init; } = TimeSpan.FromSeconds(8);
    // Without any fault, so that the machine's own pauses are known.
    public TimeSpan Calm { get; init; } = TimeSpan.FromSeconds(10);
    public int Stayers { get; init; } = 5;
    public int Roamers { get; init; } = 3;
    public int Rate { get; init; } = 1000;
    public double LossPercent { get; init; }
    public bool IsSealed { get; init; } = true;
    public ulong Seed { get; init; } = 1;

    /// <summary>Whether the bars of time count, and not only what must hold on any machine.</summary>
    public bool IsTimed { get; init; } = true;

    /// <summary>Where the lines of all processes are kept; null: nowhere.</summary>
    public string? Logs { get; init; }

    public static ServersPlan Read(CampaignArguments arguments)
    {
        var plan = new ServersPlan();
        return plan with
        {
            Kills = arguments.Number("kills", plan.Kills),
            EtcdKills = arguments.Number("etcd-kills", plan.EtcdKills),
            Stops = arguments.Number("stops", plan.Stops),
            Stop = TimeSpan.FromSeconds(arguments.Number("stop-seconds", (int)plan.Stop.TotalSeconds)),
            Isolations = arguments.Number("isolations", plan.Isolations),
            Calm = TimeSpan.FromSeconds(arguments.Number("calm-seconds", (int)plan.Calm.TotalSeconds)),
            Rate = arguments.Number("rate", plan.Rate),
            LossPercent = arguments.Number("loss-permille", 0) / 10.0,
            IsSealed = !arguments.Is("security", "none"),
            Seed = (ulong)arguments.Number("seed", 1),
            Logs = arguments.Text("logs"),
            IsTimed = !arguments.Is("timing", "off"),
        };
    }
}
