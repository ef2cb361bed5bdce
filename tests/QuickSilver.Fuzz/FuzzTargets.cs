using QuickSilver.Fuzz.Control;
using QuickSilver.Fuzz.Datagrams;
using QuickSilver.Fuzz.Etcd;
using QuickSilver.Fuzz.Groups;
using QuickSilver.Fuzz.Live;
using QuickSilver.Fuzz.Packets;
using QuickSilver.Fuzz.Patterns;
using QuickSilver.Fuzz.Payloads;
using QuickSilver.Fuzz.Texts;

namespace QuickSilver.Fuzz;

// All targets. A new decoder gets a target here, or joins the one of its family.
internal static class FuzzTargets
{
    public static IReadOnlyList<FuzzTarget> All { get; } =
    [
        new PacketTarget(),
        new SealedTarget(),
        new MessageTarget(),
        new ControlTarget(),
        new ConfigurationTarget(),
        new DiscoveryTarget(),
        new PayloadTarget(),
        new DynamicTarget(),
        new JsonTarget(),
        new PatternTarget(),
        new GroupTarget(),
        new StateTarget(),
        new ToolTarget(),
        new TextTarget(),
        new EtcdTarget(),
        new NodeTarget(),
        new ServiceTarget(),
        new ClientTarget(),
    ];

    public static FuzzTarget? Find(string name) => All.FirstOrDefault(target => target.Name == name);
}
