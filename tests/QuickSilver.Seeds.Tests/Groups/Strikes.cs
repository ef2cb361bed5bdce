using QuickSilver.Core.Wire;
using QuickSilver.Simulation;

namespace QuickSilver.Seeds.Tests.Groups;

// What happens to the members of a group while messages are in flight, and while the view that follows is agreed on: members fail, alone,
// by twos, and one after another; before some fail, what they send reaches one other member only, or few; some pause.
/// <param name="cluster">The cluster of the members.</param>
/// <param name="orderer">The number of the node that orders.</param>
/// <param name="send">Lets all members send some messages.</param>
internal sealed class Strikes(SimulatedCluster cluster, Func<int?> orderer, Action send)
{
    private static readonly TimeSpan Millisecond = TimeSpan.FromMilliseconds(1);

    private Random Random => cluster.Random;

    /// <summary>Strikes once or several times. Some of the members are down after it, and some links are bad.</summary>
    public void Run()
    {
        send();
        cluster.Run(UpTo(8));
        for (int strikes = Random.Next(1, 4); strikes > 0; strikes--)
        {
            Strike();
            // Within the messages, within the change of the view, or behind it.
            cluster.Run(UpTo(Random.Next(3) switch { 0 => 2, 1 => 30, _ => 300 }));
        }
    }

    private void Strike()
    {
        if (Victim() is not { } victim)
        {
            return;
        }

        switch (Random.Next(8))
        {
            case 0 or 1:
                Crash(victim);
                break;
            case 2:
                Crash(victim);
                Crash(Another(victim));
                break;
            case 3:
                victim.Pause(UpTo(300));
                break;
            default:
                Fade(victim);
                break;
        }
    }

    // What the victim has sent last is known to few when it fails, and sometimes one of them fails with it.
    private void Fade(SimulatedNode victim)
    {
        var confidant = Another(victim);
        var clear = Random.Next(2) == 0 ? confidant : null;
        if (Random.Next(2) == 0 && victim.IsJoined)
        {
            LoseMessages(victim.Node.Id, clear?.Number);
        }
        else
        {
            double loss = Random.Next(2) == 0 ? 1 : 0.7;
            SetModels(victim, clear, new LinkModel { Loss = loss });
        }

        send();
        cluster.Run(UpTo(Random.Next(2) == 0 ? 3 : 30));
        Crash(victim);
        if (Random.Next(2) == 0)
        {
            Crash(confidant);
        }

        cluster.Network.Filter = null;
        SetModels(victim, clear: null, model: null);
    }

    // Its messages are lost, and those that others send again for it, while its acknowledgements come.
    private void LoseMessages(NodeId victim, int? clear) => cluster.Network.Filter = (link, packet) =>
        link.To.Number != clear && new PacketHeader(packet) is { Kind: PacketKind.Data } header && header.Sender == victim.Id;

    private void SetModels(SimulatedNode victim, SimulatedNode? clear, LinkModel? model)
    {
        foreach (var one in cluster.Nodes)
        {
            if (one != victim && one != clear)
            {
                cluster.Network.Link(victim.Number, one.Number).SetModel(model);
            }
        }
    }

    private void Crash(SimulatedNode node) => node.Crash(silently: Random.Next(4) == 0);

    // Every other time the one that orders. Null: too few are left.
    private SimulatedNode? Victim()
    {
        var up = Up();
        if (up.Length < 3)
        {
            return null;
        }

        return Random.Next(2) == 0 && orderer() is { } number && cluster.Nodes[number].IsUp
            ? cluster.Nodes[number]
            : up[Random.Next(up.Length)];
    }

    private SimulatedNode Another(SimulatedNode than)
    {
        SimulatedNode[] others = [.. Up().Where(node => node != than)];
        return others[Random.Next(others.Length)];
    }

    private SimulatedNode[] Up() => [.. cluster.Nodes.Where(static node => node.IsUp)];

    private TimeSpan UpTo(int milliseconds) => Random.NextDouble() * milliseconds * Millisecond;
}
