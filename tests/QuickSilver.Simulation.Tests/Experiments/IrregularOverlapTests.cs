using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Simulation.Experiments;

namespace QuickSilver.Simulation.Tests.Experiments;

// The paper's figures 5 and 6 with its fewest nodes; the benchmark does the others.
public sealed class IrregularOverlapTests
{
    private const int Nodes = 250;
    private const int Topics = 1000;
    private const ulong Seed = 1;

    [Fact]
    public void Nodes_with_interests_of_their_own_lie_in_few_regions_and_get_most_through_two()
    {
        var figures = Whole(distinct: false).Measure();
        AssertHoldsThePapersFigures(figures);
        Assert.InRange(figures.RegionsPerTopic, 1, 5);
    }

    [Theory]
    [InlineData(1, 2000)]
    [InlineData(2, 2000)]
    [InlineData(1, 4000)]
    [InlineData(2, 4000)]
    [InlineData(1, 10_000)]
    [InlineData(2, 10_000)]
    public void So_they_do_with_more_topics_whatever_the_draw(ulong seed, int topics)
    {
        var experiment = new IrregularOverlap(Interests(distinct: false, topics, seed), seed);
        experiment.Subscribe(0, Nodes);
        AssertHoldsThePapersFigures(experiment.Measure());
    }

    [Fact]
    public void So_they_do_when_every_node_has_a_full_tenth_of_the_topics() =>
        AssertHoldsThePapersFigures(Whole(distinct: true).Measure());

    [Fact]
    public void A_cluster_that_grew_node_by_node_is_about_as_well_off_as_one_that_came_at_once()
    {
        var whole = Whole(distinct: false).Measure();
        var experiment = New(distinct: false);
        for (int node = 0; node < Nodes; node++)
        {
            experiment.Subscribe(node, 1);
        }

        var grown = experiment.Measure();
        AssertHoldsThePapersFigures(grown);
        Assert.InRange(grown.SendsPerMessage, 1, 3 * whole.SendsPerMessage);
        Assert.InRange(experiment.Map.Partitions, 1, 8);
    }

    [Fact]
    public void A_change_of_one_subscription_leaves_other_nodes_where_they_are()
    {
        var experiment = Whole(distinct: false);
        long partitions = experiment.Map.Partitions;
        int views = 0;
        const int Changes = 300;
        for (int i = 0; i < Changes; i++)
        {
            views += experiment.ChangeOne().NewRegionViews;
        }

        // The region left and the region entered, less where a region of one takes its topics along, and what a topic takes along
        // that moves to another set after many changes.
        Assert.InRange(views, Changes, 2 * Changes);
        Assert.Equal(partitions, experiment.Map.Partitions);
        AssertHoldsThePapersFigures(experiment.Measure());
    }

    [Fact]
    public void One_region_for_all_takes_one_send_and_brings_nodes_what_they_do_not_want()
    {
        var experiment = new IrregularOverlap(Interests(distinct: false, Topics, Seed), Seed, TopicSetRules.RegionForAll);
        experiment.Subscribe(0, Nodes);
        var figures = experiment.Measure();

        Assert.Equal((1, 1, 1, 1), (figures.Regions, figures.RegionsPerNode, figures.RegionsPerTopic, figures.SendsPerMessage));
        Assert.InRange(figures.ShareWanted, 0.5, 0.99);
        Assert.Equal(1, Whole(distinct: false).Measure().ShareWanted, 1e-9);
    }

    [Fact]
    public void The_same_seed_gives_the_same_regions() => Assert.Equal(Whole(distinct: false).Measure(), Whole(distinct: false).Measure());

    private static void AssertHoldsThePapersFigures(OverlapFigures figures)
    {
        Assert.InRange(figures.RegionsPerNode, 4, 14);
        Assert.InRange(figures.MostRegionsOfANode, 4, 14);
        Assert.InRange(figures.ShareOfTwoBusiest, 0.95, 1);
        Assert.InRange(figures.GroupsPerTopic, 0, 5);
        Assert.InRange(figures.ShareSentSingly, 0, 0.05);
    }

    private static IrregularOverlap Whole(bool distinct)
    {
        var experiment = New(distinct);
        experiment.Subscribe(0, Nodes);
        return experiment;
    }

    private static IrregularOverlap New(bool distinct) => new(Interests(distinct, Topics, Seed), Seed);

    private static ZipfInterests Interests(bool distinct, int topics, ulong seed) =>
        ZipfInterests.Draw(Nodes, topics, distinct, alpha: 1.5, share: 0.1, seed);
}
