using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers;

// Which nodes were separated when the membership service changed. Nodes that moved to another service together, from the same
// configuration, were not. All others were, and owe each other nothing of what was sent before. The result follows from what each node
// received, not from its own conclusions. With a single service, no nodes are ever separated.
internal sealed class Partings
{
    private readonly Dictionary<NodeKey, List<(TimeSpan At, Admission Admission)>> _admissions = [];
    private readonly Dictionary<NodeKey, (ulong Service, long Configuration)> _last = [];

    // Which configuration of which service made a node a member, and what it had before.
    private readonly record struct Admission(ulong Service, long Configuration, ulong FromService, long FromConfiguration);

    public void On(in Configured configured)
    {
        var (life, change) = (configured.Life, configured.Change);
        // A snapshot may arrive long after the configuration that admitted it, and more than once.
        if (change.Joined.FirstOrDefault(node => node.Key == life) is { AdmittedAt: > 0 } own)
        {
            if (!_admissions.TryGetValue(life, out var admissions))
            {
                _admissions.Add(life, admissions = []);
            }

            if (admissions.Count == 0 || admissions[^1].Admission.Configuration != own.AdmittedAt)
            {
                var (fromService, fromConfiguration) = _last.GetValueOrDefault(life);
                admissions.Add((configured.At, new Admission(change.Service, own.AdmittedAt, fromService, fromConfiguration)));
            }
        }

        _last[life] = (change.Service, change.Number);
    }

    /// <summary>Whether they parted after the sender sent something, at this time, in a view of which the receiver is a member.</summary>
    public bool HaveParted(NodeKey sender, TimeSpan sent, NodeKey receiver, RegionView view)
    {
        if (!_admissions.TryGetValue(sender, out var ofSender))
        {
            return false;
        }

        int after = ofSender.FindIndex(entry => entry.At > sent);
        after = after < 0 ? ofSender.Count : after;
        if (after == 0)
        {
            return false;
        }

        ulong service = ofSender[after - 1].Admission.Service;
        var ofReceiver = _admissions.GetValueOrDefault(receiver) ?? [];
        int last = ofReceiver.FindLastIndex(
            entry => entry.Admission.Service == service && entry.Admission.Configuration <= view.Configuration);
        // It never got the view, or had other steps since.
        return last < 0
            || !ofReceiver.Skip(last + 1).Select(entry => entry.Admission).SequenceEqual(
                ofSender.Skip(after).Select(entry => entry.Admission));
    }
}
