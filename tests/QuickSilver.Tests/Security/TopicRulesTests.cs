using QuickSilver.Composition;

namespace QuickSilver.Tests.Security;

public sealed class TopicRulesTests
{
    private const string Rules = """
        {
          // The longest that fits.
          "rules": [
            { "topic": "prices/", "publish": ["pricer"], "subscribe": ["*"] },
            { "topic": "prices/test/", "publish": ["*"], "subscribe": ["*"] },
            { "topic": "prices/eur", "publish": [], "subscribe": ["desk-1", "desk-2"] },
          ],
        }
        """;

    [Theory]
    [InlineData("prices/usd", "pricer", true, true, true)]
    [InlineData("prices/usd", "other", true, false, true)]
    [InlineData("prices/usd/spot", "other", true, false, true)]
    [InlineData("prices/test/usd", "other", false, true, true)]
    [InlineData("prices/eur", "pricer", true, false, false)]
    [InlineData("prices/eur", "desk-2", true, false, true)]
    [InlineData("prices", "other", false, true, true)]
    [InlineData("news", "other", false, true, true)]
    public void The_longest_rule_that_fits_decides(string topic, string identity, bool isRestricted, bool publishes, bool subscribes)
    {
        var rules = TopicRules.Parse(Rules, "rules.json");
        Assert.Equal(isRestricted, rules.IsRestricted(topic));
        Assert.Equal(publishes, rules.MayPublish(identity, topic));
        Assert.Equal(subscribes, rules.MaySubscribe(identity, topic));
    }

    [Fact]
    public void A_star_is_the_rule_of_all_topics_without_another()
    {
        var rules = TopicRules.Parse(
            """
            { "rules": [ { "topic": "*", "publish": [], "subscribe": [] },
                         { "topic": "quicksilver/inbox/", "publish": ["*"], "subscribe": ["*"] } ] }
            """,
            "rules.json");
        Assert.False(rules.MaySubscribe("anybody", "news"));
        Assert.False(rules.MayPublish("anybody", "a/b/c"));
        Assert.True(rules.MayPublish("anybody", "quicksilver/inbox/1"));
    }

    [Theory]
    [InlineData("{}", "it has no list \"rules\"")]
    [InlineData("{ \"rules\": [ { \"publish\": [], \"subscribe\": [] } ] }", "rule 1 has no text \"topic\"")]
    [InlineData("{ \"rules\": [ { \"topic\": \"a\", \"subscribe\": [] } ] }", "the rule of the topic \"a\" has no list \"publish\"")]
    [InlineData("{ \"rules\": [ { \"topic\": \"a*\", \"publish\": [], \"subscribe\": [] } ] }", "neither a name")]
    [InlineData("{ \"rules\": [ 1 ] }", "rule 1 has no text \"topic\"")]
    [InlineData("{ \"rules\": [ { \"topic\": \"a\", \"publish\": [1], \"subscribe\": [] } ] }", "")]
    [InlineData("not JSON", "")]
    [InlineData("{ \"rules\": [], \"rules\": [] }", "it has the key \"rules\" twice")]
    [InlineData("{ \"rules\": [ { \"topic\": \"a\", \"publish\": [], \"subscribe\": [], \"pubish\": [] } ] }", "is not known")]
    [InlineData("{ \"rules\": [ { \"topic\": \"a\", \"publish\": [\"desk*\"], \"subscribe\": [] } ] }", "the identity \"desk*\"")]
    public void What_is_no_rule_is_refused_with_the_file_and_what_is_wrong(string text, string expected)
    {
        string path = Path.GetTempFileName();
        File.WriteAllText(path, text);
        var failure = Assert.Throws<QuickSilverOptionsException>(() => TopicRules.Read(path));
        Assert.StartsWith($"The option Service:RightsFile is \"{path}\", which cannot be used: ", failure.Message);
        Assert.Contains(expected, failure.Message);
        File.Delete(path);
    }

    [Fact]
    public void A_rule_of_the_program_that_throws_denies_the_right()
    {
        var rights = new ProgramRights(new Throwing());
        Assert.False(rights.MayPublish("a", "b"));
        Assert.False(rights.MaySubscribe("a", "b"));
        Assert.Equal("the rules of the program (Throwing)", rights.Source);
    }

    private sealed class Throwing : ITopicRights
    {
        public bool MayPublish(string identity, string topic) => throw new InvalidOperationException();

        public bool MaySubscribe(string identity, string topic) => throw new InvalidOperationException();
    }
}
