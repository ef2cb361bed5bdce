using QuickSilver.Core.Environment;
using QuickSilver.Core.Sealing;

namespace QuickSilver.Membership.Regions;

// The keys that one life of the service makes, all of one random root. Nodes get a view's key with the view, and keep it as long as they
// have the view open. The service needs none of them again. So a service that takes over makes its new keys from a root of its own, and
// packets that are under way are opened with the old ones.
internal sealed class RegionKeys
{
    private readonly SecretKey _root;

    private RegionKeys(SecretKey root)
    {
        _root = root;
    }

    /// <summary>The key of packets that concern no view; null before the first configuration.</summary>
    public ClusterKey? Cluster { get; private set; }

    public static RegionKeys Draw(INodeEnvironment environment)
    {
        Span<byte> root = stackalloc byte[SecretKey.Bytes];
        environment.FillSecret(root);
        return new RegionKeys(new SecretKey(root));
    }

    public SecretKey OfView(ulong region, uint number, long configuration) => _root.OfView(region, number, configuration);

    public void RenewCluster(long configuration) => Cluster = new ClusterKey(configuration, _root.OfCluster(configuration));
}
