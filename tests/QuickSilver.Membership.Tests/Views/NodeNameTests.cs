using System.Text;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Views;

// What people call nodes: which names there are, and who knows them.
public sealed class NodeNameTests
{
    // Of all characters, among them those that no name has and unpaired surrogates.
    private static readonly Arbitrary<string> Texts = (
        from characters in Gen.ArrayOf(Gen.Frequency(
            (4, Gen.Elements("az09-._@:/+é漢".ToCharArray())), (1, Gen.Choose(0, char.MaxValue).Select(static c => (char)c))))
        select new string(characters)).ToArbitrary();

    [Fact]
    public void Any_text_becomes_a_name_and_a_name_stays_as_it_is() => Prop.ForAll(Texts, static text =>
    {
        string name = NodeName.Clean(text);
        Assert.True(name.Length == 0 ? text.Length == 0 : NodeName.IsValid(name), $"\"{name}\" is no name.");
        Assert.Equal(name, NodeName.Clean(name));
        if (NodeName.IsValid(text))
        {
            Assert.Equal(text, name);
        }
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_text_that_is_too_long_is_cut_between_characters()
    {
        string name = NodeName.Clean(new string('漢', 100));
        Assert.Equal(new string('漢', NodeName.MaxBytes / 3), name);
        Assert.True(NodeName.IsValid(name));
    }

    [Theory]
    [InlineData("Orders", "web-3", "Orders@web-3")]
    [InlineData("Order Gateway", "web\n3", "Order-Gateway@web-3")]
    [InlineData("Orders", "", "Orders")]
    [InlineData("", "", "")]
    public void A_node_that_was_given_no_name_has_that_of_its_application_and_machine(string application, string machine, string name) =>
        Assert.Equal(name, NodeName.Of(new ProcessLabel { Application = application, Machine = machine }));

    [Fact]
    public void A_default_name_keeps_the_beginnings_of_both_parts_if_they_are_long()
    {
        string name = NodeName.Of(new ProcessLabel { Application = new string('a', 200), Machine = new string('m', 200) });
        Assert.True(NodeName.IsValid(name));
        Assert.Equal($"{new string('a', 63)}@{new string('m', 63)}", name);
    }

    [Fact]
    public void Names_that_another_node_reports_have_no_characters_that_a_name_may_not_have()
    {
        var buffer = new ControlBuffer();
        RawClient.Join(7).Write(buffer);
        buffer.Text(13, "evil\u001b[2J\r\n");
        int process = buffer.Begin(14);
        buffer.Text(1, "\u0007host");
        buffer.Text(2, "<script>");
        buffer.Text(4, "1\u202E2");
        buffer.End(process);
        var join = JoinMessage.Read(buffer.Written);
        Assert.Equal(
            ("evil--2J--", "-host", "-script-", "1-2"), (join.Name, join.Process.Machine, join.Process.Process, join.Process.Version));
    }

    [Fact]
    public void A_name_that_is_too_long_ends_the_stream_on_which_it_comes()
    {
        var buffer = new ControlBuffer();
        RawClient.Join(7).Write(buffer);
        buffer.Text(13, new string('n', NodeName.MaxBytes + 1));
        Assert.False(ControlFrame.TryRead<JoinMessage>(buffer.Written.ToArray(), out _, out string? fault));
        Assert.Contains("129 bytes", fault);
    }

    [Fact]
    public void Members_know_the_names_of_all_and_of_those_that_left()
    {
        var cluster = new FakeCluster();
        var nodes = new[] { "a", "b", "" }
            .Select((name, i) => FakeNode.Start(cluster.World, (ulong)i + 1, FakeCluster.EndPoint, name: name)).ToArray();
        cluster.Run(1);
        Assert.Equal(("a", "b", null), (NameOf(0), NameOf(1), NameOf(2)));
        Assert.Equal($"b ({nodes[1].Key})", nodes[0].Client.Names.Named(nodes[1].Key).ToString());
        Assert.Equal(nodes[2].Key.ToString(), nodes[0].Client.Names.Named(nodes[2].Key).ToString());

        nodes[1].Client.Leave(static () => { });
        cluster.Run(1);
        Assert.Equal(2, nodes[0].Client.NodeCount);
        Assert.Equal(("a", "b"), (NameOf(0), NameOf(1)));

        string? NameOf(int node)
        {
            string? name = nodes[0].Client.Names.Find(nodes[node].Key);
            Assert.Equal(name, nodes[2].Client.Names.Find(nodes[node].Key));
            return name;
        }
    }

    [Fact]
    public void An_observer_gets_the_name_of_each_node()
    {
        var cluster = new FakeCluster();
        FakeNode.Start(cluster.World, 1, FakeCluster.EndPoint, name: "orders@web-3");
        FakeNode.Start(cluster.World, 2, FakeCluster.EndPoint);
        cluster.Run(1);
        var observer = new FakeObserver(cluster.World, FakeCluster.EndPoint).Ask();
        cluster.Run(0.2);
        Assert.Equal(["orders@web-3", ""], observer.Last.Nodes.Select(static node => node.Node.Name));
    }

    [Fact]
    public void Of_the_nodes_that_left_the_last_are_remembered()
    {
        var departed = new DepartedNames();
        departed.Add([.. Enumerable.Range(1, 100).Select(static id => Node((ulong)id))]);
        Assert.Null(departed.Find(Node(100 - DepartedNames.Most).Key));
        Assert.Equal("n100", departed.Find(Node(100).Key));
        departed.Add([Node(101), new NamedNode(new NodeKey(102, 1), "")]);
        Assert.Null(departed.Find(Node(101 - DepartedNames.Most).Key));
        Assert.Equal(("n101", "n100"), (departed.Find(Node(101).Key), departed.Find(Node(100).Key)));

        static NamedNode Node(ulong id) => new(new NodeKey(id, 1), $"n{id}");
    }

    [Fact]
    public void A_name_is_as_long_as_its_bytes_in_UTF_8_and_not_as_its_characters()
    {
        string name = new('é', NodeName.MaxBytes / 2);
        Assert.Equal((true, false), (NodeName.IsValid(name), NodeName.IsValid(name + "e")));
        Assert.Equal(NodeName.MaxBytes, Encoding.UTF8.GetByteCount(name));
    }
}
