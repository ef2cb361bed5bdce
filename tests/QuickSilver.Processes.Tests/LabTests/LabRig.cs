using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.LabTests;

// N nodes behind a switch, each with one socket on the same port and in the same group.
internal sealed class LabRig : IDisposable
{
    private readonly LabSocket[] _sockets;

    public LabRig(int nodes, ulong seed = 1, bool withRuns = true)
    {
        Network = NetworkNamespaces.Create(nodes, withRuns: withRuns);
        Switch = new ImpairedSwitch(Network, seed);
        var first = new LabSocket(Network, 1);
        _sockets = [first, .. Enumerable.Range(2, nodes - 1).Select(i => new LabSocket(Network, i, first.Port))];
    }

    public NetworkNamespaces Network { get; }

    public ImpairedSwitch Switch { get; }

    public LabSocket this[int node] => _sockets[node - 1];

    public void Dispose()
    {
        foreach (var socket in _sockets)
        {
            socket.Dispose();
        }

        Switch.Dispose();
        Network.Dispose();
    }

    /// <summary>Sends numbers 0 to count - 1 to the group, at a pace that no queue on the way overflows at.</summary>
    public void Multicast(int from, int count, int bytes = 64)
    {
        const int Burst = 250;
        for (var n = 0; n < count; n++)
        {
            this[from].Send(n, this[from].GroupAddress, bytes);
            if (n % Burst == Burst - 1)
            {
                WaitForSwitch(from, n + 1);
            }
        }
    }

    /// <summary>Waits until the switch has decided on so many frames of each pair that begins at the node.</summary>
    public void WaitForSwitch(int from, long frames)
    {
        foreach (var to in Enumerable.Range(1, Network.Count).Where(n => n != from))
        {
            Assert.True(
                SpinWait.SpinUntil(() => Switch.Counters(from, to).Offered >= frames, TimeSpan.FromSeconds(20)),
                $"the switch saw only: {Switch.Counters(from, to)}");
        }
    }
}
