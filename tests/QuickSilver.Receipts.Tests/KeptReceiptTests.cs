using QuickSilver.Membership.Views;
using QuickSilver.Receipts.Protocol;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Disks;

namespace QuickSilver.Receipts.Tests;

// What a family gets of its node's disk, on whole nodes in virtual time: logs of its own, which outlive the node.
public sealed class KeptReceiptTests
{
    private const string Name = "orders";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public void A_receipt_is_passed_on_when_it_is_on_disk_and_again_to_the_next_life()
    {
        using var cluster = NewCluster(seed: 1);
        var first = new Receipts();
        var publisher = Open(cluster, 0, first.Add);
        Subscribe(cluster, publisher);
        Publish(cluster, publisher, 50);
        var disk = DiskOf(cluster);
        cluster.Eventually("all is confirmed", () => first.Least(3) == 50);
        Assert.True(disk.UsedBytes > 0);

        disk.Model = disk.Model with { IsAway = true };
        int passed = first.Count;
        Publish(cluster, publisher, 10);
        cluster.Run(Second * 2);
        Assert.Equal(passed, first.Count);
        disk.Model = disk.Model with { IsAway = false };
        cluster.Eventually("what waited is passed on", () => first.Least(3) == 60);

        Restart(cluster);
        var second = new Receipts();
        Open(cluster, 0, second.Add);
        cluster.Eventually("the next life has all", () => first.AreIn(second));
    }

    [Fact]
    public void Receipts_that_wait_for_a_disk_are_named_in_the_status_with_what_is_wrong()
    {
        using var cluster = NewCluster(seed: 2);
        var receipts = new Receipts();
        var publisher = Open(cluster, 0, receipts.Add);
        Subscribe(cluster, publisher);
        var disk = DiskOf(cluster);
        cluster.Run(Second);
        disk.Model = disk.Model with { IsReadOnly = true };
        Publish(cluster, publisher, 1);

        cluster.Eventually("it is named", () => cluster.Nodes[0].Node.Status.Reasons.Any(static reason =>
            reason.Kind == StatusReasonKind.ProtocolWaits
            && reason.Description.StartsWith("The receipts of topic \"orders\" wait to be on disk", StringComparison.Ordinal)
            && reason.WaitsFor!.Contains("Mount the file system for writing", StringComparison.Ordinal)));

        disk.Model = disk.Model with { IsReadOnly = false };
        cluster.Eventually("the wait has ended", () => cluster.Nodes[0].Node.Status.Reasons.Count == 0 && receipts.Least(3) == 1);
    }

    [Fact]
    public void Without_a_storage_directory_receipts_cannot_be_kept_and_the_refusal_names_the_option()
    {
        using var cluster = new SimulatedCluster(nodes: 1, seed: 3);
        cluster.Start();
        var refusal = Assert.Throws<QuickSilverOptionsException>(() => Open(cluster, 0, static _ => { }));
        Assert.StartsWith("The option StorageDirectory is null.", refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Two_topics_have_logs_of_their_own_and_one_that_is_closed_and_opened_again_has_its_receipts()
    {
        using var cluster = NewCluster(seed: 4);
        var first = new Receipts();
        var other = new Receipts();
        var publisher = Open(cluster, 0, first.Add);
        var second = Open(cluster, 0, other.Add, "payments");
        Publish(cluster, publisher, 3);
        Publish(cluster, second, 5);
        cluster.Eventually("both are confirmed", () => first.Least(1) == 3 && other.Least(1) == 5);
        cluster.RunUntilCompleted(publisher.DisposeAsync().AsTask());

        var again = new Receipts();
        Open(cluster, 0, again.Add);
        cluster.Eventually("the receipts are there", () => again.Least(1) == 3);
        Assert.Equal(1, again.Members);
    }

    [Fact]
    public void Receipts_of_two_lives_are_kept_apart_although_both_number_their_messages_from_1()
    {
        using var cluster = NewCluster(seed: 5);
        var first = new Receipts();
        var publisher = Open(cluster, 0, first.Add);
        Subscribe(cluster, publisher);
        Publish(cluster, publisher, 50);
        cluster.Eventually("all is confirmed", () => first.Least(3) == 50);

        Restart(cluster);
        var second = new Receipts();
        publisher = Open(cluster, 0, second.Add);
        cluster.RunUntilCompleted(publisher.WaitForSubscribersAsync(3));
        Publish(cluster, publisher, 10);
        var life = cluster.Nodes[0].Node.Id;
        cluster.Eventually("the second life's messages are confirmed, too", () => second.Of(life).Least(3) == 10);

        Restart(cluster);
        var third = new Receipts();
        Open(cluster, 0, third.Add);
        cluster.Eventually("the third life has the receipts of both", () => first.AreIn(third) && second.AreIn(third));
    }

    [Fact]
    public void Receipts_that_a_failed_sync_left_readable_are_passed_on_when_they_are_on_disk()
    {
        using var cluster = NewCluster(seed: 6);
        var first = new Receipts();
        var publisher = Open(cluster, 0, first.Add);
        Subscribe(cluster, publisher);
        Publish(cluster, publisher, 5);
        cluster.Eventually("all is confirmed", () => first.Least(3) == 5);

        // The process ends before it can cut off what the sync has dropped.
        var disk = DiskOf(cluster);
        disk.Model = disk.Model with { SyncErrors = 1 };
        Publish(cluster, publisher, 5);
        cluster.Eventually("a sync has failed", () => disk.Failures > 0);
        Restart(cluster, isSilent: false);
        disk.Model = disk.Model with { SyncErrors = 0 };

        var second = new Receipts();
        Open(cluster, 0, second.Add);
        cluster.Eventually("the next life passes on what can be read", () => first.AreIn(second) && !second.AreIn(first));
        Restart(cluster);
        var third = new Receipts();
        Open(cluster, 0, third.Add);
        cluster.Eventually("it has survived the loss of power", () => second.AreIn(third));
    }

    [Fact]
    public void Receipts_that_are_appended_once_more_are_all_passed_on_although_the_log_is_full_after_the_first()
    {
        using var cluster = NewCluster(seed: 7);
        var first = new Receipts();
        var publisher = Open(cluster, 0, first.Add);
        Subscribe(cluster, publisher);
        Publish(cluster, publisher, 5);
        cluster.Eventually("all is confirmed", () => first.Least(3) == 5);

        cluster.Nodes[0].Crash();
        var file = DiskOf(cluster).File($"data/receipts.{TopicId.Of(Name):x16}");
        var receipt = new byte[KeptReceipt.Bytes];
        file.Read(0, receipt);
        long end = (file.Length / receipt.Length) + 1;
        int copies = (ReceiptLog.MaxBytes / receipt.Length) - 1 - (int)end;
        file.Write(end * receipt.Length, Enumerable.Repeat(receipt, copies).SelectMany(static one => one).ToArray());
        file.Sync();

        Start(cluster);
        var second = new Receipts();
        Open(cluster, 0, second.Add);
        cluster.Eventually("the next life has all", () => first.AreIn(second));
        Assert.InRange(file.Length, 1, ReceiptLog.MaxBytes / 2);
    }

    [Fact]
    public void Messages_that_were_passed_on_are_on_disk_despite_faults_of_disks_and_processes()
    {
        for (ulong seed = 1; seed <= 20; seed++)
        {
            RunSeed(seed);
        }
    }

    [Fact]
    public void A_seed_gives_the_same_run() => Assert.Equal(RunSeed(3), RunSeed(3));

    // Node 0 loses its power or its process again and again, on a bad disk. Each life must find what all lives before it have passed on.
    private static ulong RunSeed(ulong seed)
    {
        using var cluster = NewCluster(seed);
        var plan = new FaultPlan
        {
            Kinds = FaultKinds.DiskErrors | FaultKinds.DiskFull | FaultKinds.DiskReadOnly | FaultKinds.DiskSlowness
                | FaultKinds.DiskAbsence,
            Nodes = [0],
            Until = Second * 6,
        };
        var all = new Receipts();
        bool isSilent = seed % 2 == 0;
        var disk = DiskOf(cluster);
        disk.Model = disk.Model with { SyncTime = TimeSpan.FromMilliseconds(30) };
        for (int life = 0; life < 3; life++)
        {
            var receipts = new Receipts();
            var publisher = Open(cluster, 0, receipts.Add);
            if (life == 0)
            {
                Subscribe(cluster, publisher);
                FaultSchedule.Draw(plan, seed, cluster.Nodes.Count).Start(cluster.Machines, cluster);
            }

            cluster.Eventually($"seed {seed}: life {life} has what was passed on before", () => all.AreIn(receipts), Second * 60);
            cluster.Nodes[0].Post(() => PublishOnAsync(cluster.Nodes[0], publisher));
            cluster.Run(Second * (1 + cluster.Random.NextDouble()));
            all.Add(receipts);
            Restart(cluster, isSilent);
        }

        return cluster.TraceHash;
    }

    private static SimulatedCluster NewCluster(ulong seed)
    {
        var cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = 3,
            Seed = seed,
            NodeOptions = new QuickSilverOptions { StorageDirectory = "data", StallWarning = Second },
        });
        cluster.Start();
        return cluster;
    }

    private static SimulatedDisk DiskOf(SimulatedCluster cluster) => cluster.Machines.Nodes[cluster.Nodes[0].Number].Disk;

    private static void Restart(SimulatedCluster cluster, bool isSilent = true)
    {
        cluster.Nodes[0].Crash(isSilent);
        Start(cluster);
    }

    private static void Start(SimulatedCluster cluster)
    {
        cluster.Nodes[0].Start();
        cluster.Eventually("the node has joined", () => cluster.Nodes[0].IsJoined, Second * 60);
    }

    private static ITopic<string> Open(SimulatedCluster cluster, int node, Action<Receipt> onReceipt, string topic = Name) =>
        cluster.RunUntilCompleted(cluster.Nodes[node].Node.OpenReceiptTopicAsync<string>(
            topic, new ReceiptOptions { OnReceipt = onReceipt, IsKept = true }));

    private static void Subscribe(SimulatedCluster cluster, ITopic<string> publisher)
    {
        for (int node = 1; node <= 2; node++)
        {
            cluster.RunUntilCompleted(cluster.Nodes[node].Node.OpenReceiptTopicAsync<string>(Name))
                .SubscribeInline(static (in Message<string> _) => { });
        }

        cluster.RunUntilCompleted(publisher.WaitForSubscribersAsync(3));
    }

    private static void Publish(SimulatedCluster cluster, ITopic<string> topic, int messages) => cluster.RunUntilCompleted(async () =>
    {
        for (int i = 0; i < messages; i++)
        {
            await topic.PublishAsync("an order");
        }
    });

    // Until the life ends.
    private static async Task PublishOnAsync(SimulatedNode node, ITopic<string> topic)
    {
        while (true)
        {
            await topic.PublishAsync("an order");
            await Task.Delay(TimeSpan.FromMilliseconds(3), node.Time);
        }
    }

    // The newest receipt of each node for each publisher.
    private sealed class Receipts
    {
        private readonly Dictionary<(NodeId Publisher, NodeId Node), long> _through = [];

        public int Count { get; private set; }

        public int Members => _through.Count;

        public void Add(Receipt receipt)
        {
            Count++;
            _through[(receipt.Publisher, receipt.Node)] = receipt.Through;
        }

        public void Add(Receipts others)
        {
            foreach (var (key, through) in others._through)
            {
                _through[key] = Math.Max(through, _through.GetValueOrDefault(key));
            }
        }

        /// <summary>The least that so many nodes have confirmed of one publisher; 0 if there are not so many.</summary>
        public long Least(int members) => _through.Count < members ? 0 : _through.Values.Min();

        public Receipts Of(NodeId publisher)
        {
            var found = new Receipts();
            foreach (var (key, through) in _through.Where(one => one.Key.Publisher == publisher))
            {
                found._through[key] = through;
            }

            return found;
        }

        public bool AreIn(Receipts others) => _through.All(one => others._through.GetValueOrDefault(one.Key) >= one.Value);
    }
}
