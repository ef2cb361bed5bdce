using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Dissemination;

// Chooses a scheme for each region. The choice depends on nothing but the view, so all nodes make the same.
internal sealed class RegionalDissemination(Func<RegionView, int> choose, params IDisseminationScheme[] schemes) : IDisseminationScheme
{
    public INodeDissemination ForNode(IDisseminationParts parts) =>
        new Chosen(choose, [.. schemes.Select(scheme => scheme.ForNode(parts))]);

    private sealed class Chosen(Func<RegionView, int> choose, INodeDissemination[] all) : INodeDissemination
    {
        public IReadOnlyList<PacketKind> Kinds { get; } = [.. all.SelectMany(static one => one.Kinds)];

        public bool SharesTopics => all.All(static one => one.SharesTopics);

        public bool MayUseGroup(RegionView view) => Of(view).MayUseGroup(view);

        public IDisseminator ToSend(RegionView view) => Of(view).ToSend(view);

        public IForwarder? ToForward(RegionView view) => Of(view).ToForward(view);

        public DropReason OnPacket(in PacketHeader header, NodeKey sender)
        {
            foreach (var one in all)
            {
                if (one.Kinds.Contains(header.Kind))
                {
                    return one.OnPacket(header, sender);
                }
            }

            return DropReason.UnknownKind;
        }

        public void Close()
        {
            foreach (var one in all)
            {
                one.Close();
            }
        }

        private INodeDissemination Of(RegionView view) => all[choose(view)];
    }
}
