using QuickSilver.Campaign.Contenders.Testbeds;

namespace QuickSilver.Campaign;

// What is measured, in the order of a round. Rows beside others come before what is measured of QuickSilver alone.
internal sealed class CampaignSections(CampaignPlan plan, Namespaces namespaces)
{
    public List<Section> List() => [.. All().Where(section =>
        plan.Only.Count == 0 || plan.Only.Any(begin => section.Slug.StartsWith(begin, StringComparison.Ordinal)))];

    private List<Section> All()
    {
        var beside = new PeerSections(plan, namespaces);
        var alone = new OwnSections(plan, namespaces);
        var throughput = beside.Throughput().ToList();
        var variants = alone.Variants(beside.Peer("raw", "one").FirstOrDefault());
        List<Section> sections = [.. throughput, variants, beside.RoundTrips(throughput[0].Rows[0].Runs, throughput[0].Load)];
        if (plan.IsQuick)
        {
            return sections;
        }

        var everyday = new EverydaySections(namespaces);
        sections.AddRange([alone.Typed(), alone.Memory(), everyday.Requests(), everyday.SlowReader(), everyday.Watching()]);
        sections.Add(new SealedSections(namespaces).Cost());
        if (plan.Peers is not null)
        {
            sections.Add(alone.ShapedLink());
            sections.Add(new SealedSections(namespaces).Link());
        }

        if (plan.Lab is not null)
        {
            sections.Add(alone.Loss(plan.Lab));
        }

        sections.AddRange(beside.Jumbo());
        return sections;
    }
}
