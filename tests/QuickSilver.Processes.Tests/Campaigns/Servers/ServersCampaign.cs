using System.Diagnostics;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Campaigns.Servers;

// F4, F8; I1, I7, I9: three servers over three members of etcd, while members stay, join, leave, publish and subscribe. Servers are killed,
// members of etcd are killed, the leader is stopped, and each of them is cut off. Members that stay get everything once and in order,
// nothing stands still for long, another server leads soon, and no configuration number is given twice.
//
//   servers [kills=20] [etcd-kills=10] [stops=1] [stop-seconds=20] [isolations=1] [calm-seconds=10] [rate=1000] [loss-permille=0]
//           [security=secret|none] [timing=on|off] [seed=1] [logs=FOLDER]
internal sealed class ServersCampaign
{
    private static readonly TimeSpan BetweenKills = TimeSpan.FromSeconds(4);
    private static readonly TimeSpan WarmUp = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan Down = TimeSpan.FromSeconds(2);

    private readonly ServersRig _rig;
    private readonly ServersJudge _judge;

    private ServersCampaign(ServersRig rig, ServersJudge judge) => (_rig, _judge) = (rig, judge);

    /// <summary>Returns 0 if all held, and 1 if anything did not.</summary>
    public static int Run(ServersPlan plan, TextWriter output)
    {
        LoggedProcess.Folder = plan.Logs is null ? null : Directory.CreateDirectory(plan.Logs).FullName;
        using var rig = new ServersRig(plan);
        var judge = new ServersJudge(rig, output);
        try
        {
            new ServersCampaign(rig, judge).Run(plan);
        }
        catch (TimeoutException missed)
        {
            judge.Miss(missed.Message);
            judge.WriteTails();
        }

        return judge.WriteSummary() ? 0 : 1;
    }

    private void Run(ServersPlan plan)
    {
        _rig.AwaitSettled();
        foreach (var member in _rig.Stayers)
        {
            member.Tell("go");
        }

        // The first seconds compile what is run.
        Thread.Sleep(WarmUp);
        _judge.Watch("nothing happens", () => Thread.Sleep(plan.Calm));
        Times(plan.Kills, round => KillLeader(round));
        Times(plan.EtcdKills, round => KillEtcdLeader(round));
        Times(plan.Stops, _ => StopLeader(plan.Stop));
        Times(plan.Isolations, _ =>
        {
            foreach (int slot in Enumerable.Range(0, _rig.Servers.Length))
            {
                IsolateServer(slot, plan.Isolation);
            }

            foreach (var member in _rig.Etcd)
            {
                IsolateEtcd(member, plan.Isolation);
            }
        });
        _rig.AwaitSettled();
        End();
    }

    private static void Times(int count, Action<int> action)
    {
        for (int round = 1; round <= count; round++)
        {
            action(round);
        }
    }

    private void KillLeader(int round)
    {
        var old = _rig.AwaitSettled();
        _judge.Watch($"kill {round} of the leading server {old.Node}", old, () =>
        {
            old.Kill();
            return () =>
            {
                Thread.Sleep(Down);
                _rig.Restart(old);
                Thread.Sleep(BetweenKills - Down);
            };
        });
    }

    private void KillEtcdLeader(int round)
    {
        _rig.AwaitSettled();
        EtcdMember? leader = null;
        ServersRig.Await("a leader of etcd", () => (leader = _rig.EtcdLeader()) is not null, 300);
        _judge.Watch($"kill {round} of the leading etcd member {leader!.Node}", () =>
        {
            leader.Kill();
            Thread.Sleep(Down);
            leader.Start();
            ServersRig.Await("the member of etcd to be back", () => leader.IsLeader() is not null, 300);
            Thread.Sleep(BetweenKills - Down);
        });
    }

    private void StopLeader(TimeSpan length)
    {
        var old = _rig.AwaitSettled();
        int made = 0;
        int removals = 0;
        _judge.Watch($"stop of the leading server {old.Node} for {length.TotalSeconds:0} s", old, () =>
        {
            long begun = Stopwatch.GetTimestamp();
            old.Send(ProcessSignal.Stop);
            return () =>
            {
                var left = length - Stopwatch.GetElapsedTime(begun);
                Thread.Sleep(left > TimeSpan.Zero ? left : TimeSpan.Zero);
                (made, removals) = (old.Configurations.Count, old.Removals);
                old.Send(ProcessSignal.Continue);
            };
        });
        long woken = Stopwatch.GetTimestamp();
        ServersRig.Await("the server that woke to stand by", () => old.DeposedAt > woken || !old.Leads);
        Thread.Sleep(BetweenKills);
        int late = old.Configurations.Count - made;
        _judge.Say($"  the server that woke made {late} configurations and removed {old.Removals - removals} nodes");
        // The stop may have come in the middle of one, which is logged at its end. Whether a member follows it is judged with its numbers.
        if (late > 1 || old.Removals > removals)
        {
            _judge.Miss("a server that woke continued");
        }
    }

    private void IsolateServer(int slot, TimeSpan length)
    {
        var leader = _rig.AwaitSettled();
        var server = _rig.Servers[slot];
        string what = $"server {server.Node} is cut off for {length.TotalSeconds:0} s";
        if (server == leader)
        {
            _judge.Watch($"leading {what}", server, () =>
            {
                long begun = Stopwatch.GetTimestamp();
                _rig.Switch.Partition(server.Node);
                return () => Heal(length - Stopwatch.GetElapsedTime(begun));
            });
        }
        else
        {
            _judge.Watch(what, () =>
            {
                _rig.Switch.Partition(server.Node);
                Heal(length);
            });
        }
    }

    private void IsolateEtcd(EtcdMember member, TimeSpan length)
    {
        _rig.AwaitSettled();
        string what = member.IsLeader() is true ? "leading etcd member" : "etcd member";
        _judge.Watch($"{what} {member.Node} is cut off for {length.TotalSeconds:0} s", () =>
        {
            _rig.Switch.Partition(member.Node);
            Heal(length);
        });
    }

    private void Heal(TimeSpan after)
    {
        Thread.Sleep(after > TimeSpan.Zero ? after : TimeSpan.Zero);
        _rig.Switch.Heal();
        Thread.Sleep(Down);
    }

    // All stop to publish before any of them ends, so that each has what the others sent.
    private void End()
    {
        foreach (var member in _rig.Stayers)
        {
            member.Tell("stop");
        }

        ServersRig.Await(
            "all to have sent", () => _rig.Stayers.All(static member => member.Sent is not null || member.HasExited));
        if (Array.Find(_rig.Stayers, static member => member.HasExited) is { } gone)
        {
            throw new TimeoutException($"node {gone.Node} ended: {gone.Removal ?? "without a word"}");
        }

        foreach (var member in (IEnumerable<Member>)[.. _rig.Stayers, .. _rig.Roamers])
        {
            member.Tell("end");
        }

        ServersRig.Await("all to report", () => _rig.Stayers.Concat(_rig.Roamers).All(static member => member.Report is not null));
        _judge.JudgeMembers();
        _judge.JudgeNumbers();
    }
}
