namespace QuickSilver.Architecture.Tests.Friends;

// Whose internals tests and benchmarks see beside those of the project that they are for, and why. The table only shrinks: FriendTests
// fails for a friend that uses no internals.
internal static class FriendExceptions
{
    private const string Core = "QuickSilver.Core";
    private const string Serialization = "QuickSilver.Serialization";
    private const string Membership = "QuickSilver.Membership";
    private const string Multicast = "QuickSilver.Multicast";
    private const string Public = "QuickSilver";
    private const string Groups = "QuickSilver.Groups";
    private const string Simulation = "QuickSilver.Simulation";

    public static readonly IReadOnlyList<FriendException> All =
    [
        new("QuickSilver.Receipts", "It is a family as small as can be, which the tests open on nodes.",
            [Core, Membership, Multicast, Public]),
        new("QuickSilver.Receipts.Tests", "It opens that family on nodes whose packets are sealed, and drives its states by keys of nodes.",
            [Membership, Simulation]),
        new("QuickSilver.Groups.Tests", "It drives the order of a group by messages and views.", [Membership, Multicast]),
        new("QuickSilver.Membership.Tests", "It drives clients and services by the environment of Core, on simulated machines.",
            [Core, Simulation]),
        new("QuickSilver.Multicast.Tests", "It drives nodes by the environment of Core and configurations of Membership, simulated.",
            [Core, Membership, Simulation]),
        new("QuickSilver.Tests", "It puts doubles in place of the parts that the public project is composed of, and makes all exceptions.",
            [Core, Serialization, Membership, Multicast, Groups]),
        new("QuickSilver.Hosting.Tests", "Its hosts run nodes made of the doubles of QuickSilver.Tests, and nodes on simulated machines.",
            [Core, Membership, Multicast, Public, Simulation]),
        new("QuickSilver.Simulation.Tests", "Its clusters are whole nodes, whose state and packets it reads.",
            [Core, Membership, Multicast, Public]),
        new("QuickSilver.Seeds.Tests", "Its campaigns record what the parts of whole nodes do.",
            [Core, Membership, Multicast, Public, Simulation]),
        new("qsm.Tests", "It compares what the tool shows with what services and nodes have.",
            [Core, Membership, Public]),
        new("QuickSilver.Generators.Tests", "It converts the payloads of generated codecs to JSON and back.",
            [Serialization]),
        new("QuickSilver.ProtobufNet.Tests", "It converts the payloads of protobuf-net's models to JSON and back.",
            [Serialization]),
        new("QuickSilver.Architecture.Tests", "It reads the instruments of a meter without a node.",
            [Public]),
        new("QuickSilver.Fuzz", "Its targets are the decoders of all projects.",
            [Core, Serialization, Membership, Multicast, Public, Groups, Simulation, "qsm"]),
        new("QuickSilver.Fuzz.Tests", "It compares the targets with the kinds of packets and control messages.",
            [Core, Membership]),
        new("QuickSilver.Microbenchmarks", "It measures single parts.",
            [Core, Membership, Multicast, Public, Simulation]),
    ];
}

internal sealed record FriendException(string Friend, string Reason, string[] Owners);
