using Microsoft.Extensions.Logging;
using QuickSilver.Composition;
using QuickSilver.Tests.Infrastructure;

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
    public void A_malformed_rule_is_refused_with_the_file_and_its_fault(string text, string expected)
    {
        string path = Path.GetTempFileName();
        File.WriteAllText(path, text);
        var failure = Assert.Throws<QuickSilverOptionsException>(() => TopicRules.Read(path));
        Assert.StartsWith($"The option Membership:Hosted:RightsFile is \"{path}\", which cannot be used: ", failure.Message);
        Assert.Contains(expected, failure.Message);
        File.Delete(path);
    }

    [Fact]
    public void A_rule_of_the_program_that_throws_denies_the_right()
    {
        var rights = new ProgramRights(new Throwing(), log: null);
        Assert.False(rights.MayPublish("a", "b"));
        Assert.False(rights.MaySubscribe("a", "b"));
        Assert.Equal("the rules of the program (Throwing)", rights.Source);
    }

    [Fact]
    public void An_exception_of_the_programs_rule_is_logged_with_its_question_and_at_growing_intervals()
    {
        var logs = new RecordingLogs();
        var rights = new ProgramRights(new Throwing(), logs);
        for (int i = 0; i < 500; i++)
        {
            rights.MayPublish("pricer", "prices/EUR");
            rights.MaySubscribe("desk", "orders");
        }

        string[] told = [.. logs.Entries.Where(static entry => entry.Id == 1218).Select(static entry => entry.Text)];
        Assert.InRange(told.Length, 9, 20);
        Assert.Contains("'pricer' may publish in topic 'prices/EUR'", told[0]);
        Assert.Contains("'desk' may subscribe to topic 'orders'", told[1]);
    }

    [Fact]
    public void A_node_that_hosts_the_service_logs_what_the_rules_of_its_program_throw()
    {
        var logs = new RecordingLogs();
        var node = new QuickSilverOptions { Membership = { Hosted = { Rights = new Throwing() } } };
        var protocols = ProtocolOptions.Of(node, new ProtocolSetup { Logs = logs });
        Assert.False(protocols.Service.Access!.MayPublish("pricer", "prices/EUR"));
        var (_, level, _, exception) = Assert.Single(logs.Entries);
        Assert.Equal(LogLevel.Warning, level);
        Assert.IsType<InvalidOperationException>(exception);
    }

    private sealed class Throwing : ITopicRights
    {
        public bool MayPublish(string identity, string topic) => throw new InvalidOperationException();

        public bool MaySubscribe(string identity, string topic) => throw new InvalidOperationException();
    }
}
